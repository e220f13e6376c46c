import { execFile } from 'node:child_process'
import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import t from 'tap'
import { contains, has, lacks } from '../support/matching.ts'
import { databasePid, dataDirectory, gone, send, servicePid, startReady } from './support/process.ts'

const npmStart: [string, string] = ['npm', 'start']

void t.test('npm start prints its address and a curl that dispatches an invoice; the second start ' +
  'finds the data of the first', async (t) => {
  const folder = dataDirectory(t)
  const first = await startReady(t, { dataDirectory: folder, command: npmStart })
  contains(t, first.stdout(), `\n\nDocument Dispatch is ready at ${first.url()} (documentation: ${first.url()}/docs)\n\n` +
    `Sign in to the console as demo@example.com with demo-password: ${first.url()}/console\n\nDispatch a first invoice:\n\ncurl `)
  const [curl = ''] = /^curl [^]*?'\n\n/m.exec(first.stdout()) ?? []
  const { stdout } = await promisify(execFile)('sh', ['-c', curl])
  const dispatched = JSON.parse(stdout)
  has(t, dispatched, {
    success: true,
    status: 'succeeded',
    providerName: 'simulator',
    generatedDocument: { contentType: 'application/pdf' }
  })
  const document = await fetch(dispatched.generatedDocument.url)
  t.equal((await document.text()).slice(0, 5), '%PDF-', 'the link in the answer works')

  for (const name of ['', 'files', 'master.key', 'postgres']) {
    t.equal(statSync(join(folder, name)).mode & 0o066, 0, `nobody else reads data/${name}`)
  }

  const [service, database] = [servicePid(first), databasePid(folder)]
  process.kill(first.pid, 'SIGTERM')
  t.equal(await first.ended, 0, 'SIGTERM to npm alone ends it with 0')
  t.equal(first.stderr().replace(/^npm warn .*\n/gm, ''), '')
  await gone(service, database)

  // The tests have a place of their own for compiled modules.
  const second = await startReady(t, { dataDirectory: folder, command: npmStart, env: { NODE_COMPILE_CACHE: '' } })
  has(t, (await send(second.url(), 'GET', `/api/v1/dispatches/${dispatched.dispatchId}`)).body, {
    dispatchId: dispatched.dispatchId,
    status: 'succeeded'
  })
  has(t, (await send(second.url(), 'GET', '/api/v1/credits')).body, { balance: 99 }, 'nothing is seeded twice')
  has(t, (await send(second.url(), 'GET', `/api/v1/documents/${dispatched.generatedDocument.id}`)).status, 200)
  lacks(t, second.stdout(), /company \\"Demo\\" created|Creating the database/)

  const compiled = join(folder, 'compiled')
  const modules = (): number => readdirSync(compiled, { recursive: true }).length
  const before = modules()
  process.kill(second.pid, 'SIGTERM')
  t.equal(await second.ended, 0)
  t.equal(statSync(compiled).mode & 0o077, 0, 'what is executed is nobody else\'s')
  t.ok(modules() > Math.max(before, 500), `later starts find what this one has compiled, ${modules() - before} of ${modules()} modules`)
})
