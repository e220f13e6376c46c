import { setTimeout as pause } from 'node:timers/promises'
import t from 'tap'
import { has, lacks } from '../support/matching.ts'
import { invoiceRequest, seededEnvironment } from '../support/service.ts'
import { databasePid, dataDirectory, gone, send, servicePid, type ServiceProcess, startProcess, startReady } from './support/process.ts'

const npmStart: [string, string] = ['npm', 'start']

/** Begins a dispatch that the simulator takes `seconds` for; resolves when the provider is being called, with the answer to come. */
async function slowDispatch (url: string, seconds = 5): Promise<{ answer: Promise<{ status: number, body: any }> }> {
  has(t, await send(url, 'PUT', '/api/v1/my/providers/simulator', { settings: { slowSeconds: seconds } }), { status: 200 })
  const answer = send(url, 'POST', '/api/invoicing', invoiceRequest({}, { invoicing: { reference: 'slow' } }))
  const isRunning = async (): Promise<boolean> => (await send(url, 'GET', '/api/v1/dispatches?status=running')).body.data.length === 1
  while (!await isRunning()) await pause(50)
  return { answer }
}

/** Resolves when no new connection is taken. */
async function refused (url: string): Promise<void> {
  while (await fetch(`${url}/livez`).then(() => true, () => false)) await pause(20)
}

/** A signal to a process group comes twice to the service: npm passes its own on. */
const signals: { what: string, command?: [string, ...string[]], send: (service: ServiceProcess) => void }[] = [
  { what: 'Ctrl-C in the terminal of npm start', command: npmStart, send: ({ pid }) => process.kill(-pid, 'SIGINT') },
  { what: 'SIGTERM to the process group of npm start', command: npmStart, send: ({ pid }) => process.kill(-pid, 'SIGTERM') },
  { what: 'the end of its terminal', send: ({ pid }) => process.kill(-pid, 'SIGHUP') }
]

void t.test('running requests are finished while new ones are refused, and no process is left behind', { jobs: signals.length }, (t) => {
  for (const { what, command, send: signal } of signals) {
    void t.test(what, async (t) => {
      const folder = dataDirectory(t)
      const service = await startReady(t, { dataDirectory: folder, ...(command && { command }) })
      const pids = [servicePid(service), databasePid(folder)]
      const { answer } = await slowDispatch(service.url())
      signal(service)
      await refused(service.url())
      const { status, body } = await answer
      has(t, { status, body }, { status: 200, body: { success: true, status: 'succeeded' } })
      t.equal(await service.ended, 0)
      t.equal(databasePid(folder), undefined, 'the database ended before the service')
      await gone(...pids)
      t.equal(service.stderr().replace(/^npm warn .*\n/gm, ''), '')
    })
  }
  t.end()
})

void t.test('load balancers see that a process stops before it refuses anything', async (t) => {
  const env = { ...await seededEnvironment(t), DISPATCH_DRAIN_DELAY: '3' }
  const service = await startReady(t, { dataDirectory: dataDirectory(t), env })
  const ready = async (): Promise<number> => (await fetch(`${service.url()}/readyz`)).status
  t.equal(await ready(), 204)
  const begun = performance.now()
  process.kill(service.pid, 'SIGTERM')
  while (await ready() === 204) await pause(20)
  t.equal(await ready(), 503)
  t.equal((await fetch(`${service.url()}/livez`)).status, 204)
  has(t, await send(service.url(), 'POST', '/api/invoicing', invoiceRequest()), { status: 200, body: { status: 'succeeded' } })
  t.equal(await service.ended, 0)
  t.ok(performance.now() - begun > 3_000)
})

void t.test('a second signal does not wait, and leaves no process behind either', async (t) => {
  const folder = dataDirectory(t)
  const service = await startReady(t, { dataDirectory: folder })
  const database = databasePid(folder)
  const { answer } = await slowDispatch(service.url(), 30)
  const cut = t.rejects(answer)
  process.kill(service.pid, 'SIGINT')
  // The service has taken the first one: on a busy machine it may be late, and would take the next one for its echo.
  await refused(service.url())
  await pause(600)
  process.kill(service.pid, 'SIGINT')
  t.equal(await service.ended, 1)
  await cut
  await gone(database)
})

void t.test('a signal while the service starts ends it, and the next start works', async (t) => {
  const folder = dataDirectory(t)
  // The group's signal ends initdb too, the service's own does not.
  for (const group of [-1, 1]) {
    const service = startProcess(t, { dataDirectory: folder })
    while (!service.stdout().includes('Creating the database')) await pause(5)
    process.kill(group * service.pid, 'SIGTERM')
    t.equal(await service.ended, 0)
    t.equal(service.stderr(), '')
    lacks(t, service.stdout(), 'listening')
    t.equal(databasePid(folder), undefined)
  }
  const next = await startReady(t, { dataDirectory: folder })
  has(t, await send(next.url(), 'POST', '/api/invoicing', invoiceRequest()), { status: 200 })
})
