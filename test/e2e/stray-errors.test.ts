import { randomBytes } from 'node:crypto'
import { delimiter } from 'node:path'
import t, { type Test } from 'tap'
import { directory, provide, source } from '../fixtures/providers/folders.ts'
import { has } from '../support/matching.ts'
import { invoiceRequest, operator, seededEnvironment, shippedProviders } from '../support/service.ts'
import { dataDirectory, send, type ServiceProcess, startReady } from './support/process.ts'

/** What a careless provider leaves behind during a dispatch, and what the log says of it. */
const careless = {
  floating: {
    body: 'void Promise.reject(new Error(`lost ${context.settings.token}`))',
    says: 'a promise was rejected and nobody awaited it'
  },
  late: {
    body: 'void (async () => { await context.wait(0.2); throw new Error("later") })()',
    says: 'a promise was rejected and nobody awaited it'
  },
  timer: { body: 'setTimeout(() => { throw new Error("in a timer") }, 100)', says: 'an error was thrown and nobody could catch it' },
  tick: { body: 'process.nextTick(() => { throw new Error("in a tick") })', says: 'an error was thrown and nobody could catch it' }
}

const answer = 'return { id: "1", status: "sent" }'

async function startWith (t: Test, sources: Record<string, string>): Promise<ServiceProcess> {
  const folders = await directory(t)
  for (const [code, text] of Object.entries(sources)) await provide(folders, code, { 'index.js': text })
  return startReady(t, {
    dataDirectory: dataDirectory(t),
    env: { ...await seededEnvironment(t), DISPATCH_PROVIDERS_DIR: [shippedProviders, folders].join(delimiter) }
  })
}

void t.test('what a provider leaves behind ends neither the process nor another call', async (t) => {
  const sources = Object.entries(careless).map(([code, { body }]) => [code, source(code, `${body}; ${answer}`)])
  const service = await startWith(t, Object.fromEntries(sources))
  const url = service.url()
  const token = randomBytes(8).toString('hex')
  const slow = send(url, 'POST', '/api/invoicing', invoiceRequest({}, { invoicing: { reference: 'slow' } }))
  for (const [code, { says }] of Object.entries(careless)) {
    await send(url, 'PUT', `/api/v1/company/providers/${code}`, { settings: { token } })
    const { status, body } = await send(url, 'POST', '/api/invoicing', invoiceRequest({ number: `N-${code}` }, { providerName: code }))
    t.same([status, body.status], [200, 'succeeded'], code)
    const told = (): boolean =>
      service.log().some(({ msg, provider }) => provider === code && String(msg) === `${says}: a fault of the provider "${code}"`)
    while (!told()) await new Promise((resolve) => setTimeout(resolve, 50))
  }
  const { status, body } = await slow
  t.same([status, body.status], [200, 'succeeded'], 'a call that was under way meanwhile')
  t.notOk(service.stdout().includes(token), 'the log holds none of its secrets')
  t.equal((await send(url, 'GET', '/healthz')).status, 200)
})

void t.test('errors that nobody awaits count against the breaker of the company that called', async (t) => {
  const leaving = 'for (const index of [1, 2, 3, 4, 5]) setTimeout(() => { throw new Error("in a timer") }, 20 * index)'
  const service = await startWith(t, { acme: source('acme', `${leaving}; ${answer}`) })
  const health = async (): Promise<unknown> => {
    const { body } = await send(service.url(), 'GET', '/api/v1/providers')
    return body.data.find((entry: { code: string }) => entry.code === 'acme').health.state
  }
  await send(service.url(), 'PUT', '/api/v1/company/providers/acme', { settings: {} })
  t.equal(await health(), 'ok')
  const sendOne = () => send(service.url(), 'POST', '/api/invoicing', invoiceRequest({}, { providerName: 'acme' }))
  t.equal((await sendOne()).body.status, 'succeeded')
  while (await health() !== 'failing') await new Promise((resolve) => setTimeout(resolve, 50))
  has(t, await sendOne(), { status: 503, body: { error: 'provider_unavailable' } })
})

void t.test('a provider that leaves an error behind while it is loaded keeps nobody from starting', async (t) => {
  const service = await startWith(t, { hasty: source('hasty', answer, 'void Promise.reject(new Error("at the top"))') })
  t.equal((await send(service.url(), 'GET', '/healthz')).status, 200)
  t.same(service.log().filter(({ provider, level }) => provider === 'hasty' && level === 50).length, 1)
})

/** How a provider tries to end the process of the service, or to change it for all; `name` is the function that it calls. */
const ends: Record<string, { name: string, call: string }> = {
  exit: { name: 'exit', call: 'process.exit(0)' },
  'really-exit': { name: 'reallyExit', call: 'process.reallyExit(0)' },
  'by-name': { name: 'exit', call: '(await import("node:process")).exit(0)' },
  abort: { name: 'abort', call: 'process.abort()' },
  kill: { name: 'kill', call: 'process.kill(process.pid, "SIGKILL")' },
  'kill-all': { name: 'kill', call: 'process.kill(0)' },
  execve: { name: 'execve', call: 'process.execve("/bin/true", ["true"], {})' },
  chdir: { name: 'chdir', call: 'process.chdir("/")' }
}

const refusal = (code: string, name: string): string => `process.${name}() was called: a fault of the provider "${code}"`

void t.test('a provider that ends the process ends its own call alone, with the outcome that is known of it', async (t) => {
  const drafts = (code: string, text: string): string => source(code, text).replace('idempotency:', 'checkpoint: true, idempotency:')
  const service = await startWith(t, {
    ...Object.fromEntries(Object.entries(ends).map(([code, { call }]) => [code, source(code, `${call}; ${answer}`)])),
    early: drafts('early', `process.exit(0); ${answer}`),
    late: drafts('late',
      `await context.checkpoint("draft"); await fetch("http://127.0.0.1:59999/").catch(() => {}); process.exit(0); ${answer}`),
    caught: source('caught', `try { process.exit(0) } catch {} ${answer}`),
    timed: source('timed', `setTimeout(() => process.exit(0), 20); ${answer}`)
  })
  const url = service.url()
  const dispatch = async (code: string): Promise<unknown> => {
    await send(url, 'PUT', `/api/v1/company/providers/${code}`, { settings: {} })
    const { status, body } = await send(url, 'POST', '/api/invoicing', invoiceRequest({}, { providerName: code }))
    return [status, body.error ?? body.status]
  }
  const slow = send(url, 'POST', '/api/invoicing', invoiceRequest({}, { invoicing: { reference: 'slow' } }))
  for (const code of Object.keys(ends)) t.same(await dispatch(code), [503, 'provider_unavailable'], code)
  t.same(await dispatch('late'), [504, 'outcome_unknown'], 'after its checkpoint, and after it has sent something')
  for (const code of ['caught', 'timed']) t.same(await dispatch(code), [200, 'succeeded'], code)
  for (let time = 0; time < 5; time++) t.same(await dispatch('early'), [503, 'provider_unavailable'], 'before its checkpoint')
  const { body: { data } } = await send(url, 'GET', '/api/v1/providers')
  t.equal(data.find((entry: { code: string }) => entry.code === 'early').health.state, 'failing', 'each is counted')
  t.same((await slow).body.status, 'succeeded', 'a call that was under way meanwhile')

  process.kill(service.pid, 'SIGTERM')
  t.equal(await service.ended, 0, 'the service itself ends as ever')
  const told = service.log().filter(({ msg }) => String(msg).includes('a fault of the provider')).map(({ msg }) => msg)
  t.same(told.toSorted(), [
    ...Object.entries(ends).map(([code, { name }]) => refusal(code, name)),
    ...['late', 'caught', 'timed', ...Array.from({ length: 5 }, () => 'early')].map((code) => refusal(code, 'exit'))
  ].toSorted(), 'each is told once, also where nobody catches it')
})

void t.test('a provider that ends the process where a check or its loading runs ends nothing', async (t) => {
  const service = await startWith(t, {
    sly: source('sly', answer, 'if (process.permission === undefined) process.exit(0)'),
    checking: source('checking', answer).replace('idempotency:', 'check: () => process.exit(0), idempotency:')
  })
  const url = service.url()
  const { body: { data } } = await send(url, 'GET', '/api/v1/providers', undefined, operator)
  t.equal(data.find(({ folder }: { folder: string }) => folder === 'sly').health.reason,
    'It throws an error when it is loaded: A provider may not call process.exit().')
  await send(url, 'PUT', '/api/v1/company/providers/checking', { settings: {} })
  t.equal((await send(url, 'POST', '/api/invoicing/validate', invoiceRequest({}, { providerName: 'checking' }))).status, 500)
  t.equal((await send(url, 'GET', '/healthz')).status, 200)
})
