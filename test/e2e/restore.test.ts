import { spawnSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { mkdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import t from 'tap'
import { has } from '../support/matching.ts'
import { admin, invoiceRequest } from '../support/service.ts'
import { installed, type Postgresql, startPostgresql } from './support/postgresql.ts'
import { dataDirectory, refusalOf, root, send, type ServiceProcess, startReady, stop } from './support/process.ts'

const authorization = `Basic ${Buffer.from(`${admin.email}:${admin.password}`).toString('base64')}`

async function bytesOf (service: ServiceProcess, documentId: string): Promise<{ status: number, bytes: Buffer }> {
  const answer = await fetch(`${service.url()}/api/v1/documents/${documentId}`, { headers: { authorization } })
  return { status: answer.status, bytes: Buffer.from(await answer.arrayBuffer()) }
}

/** The commands that the operators' page gives, one a line. */
function documented (block: string): string[] {
  const [, text = ''] =
    new RegExp(`^\`\`\`sh backup=${block}\n([^]*?)^\`\`\`$`, 'm').exec(readFileSync(join(root, 'plugins/README.md'), 'utf8')) ?? []
  return text.trimEnd().split('\n')
}

/** Runs a documented command as a shell would; the page's variables are those of `env`. */
function run (command: string, env: Record<string, string>): void {
  const { status, stderr } = spawnSync('sh', ['-ec', command], {
    env: { ...env, PATH: `${installed ?? ''}:/usr/bin:/bin` },
    encoding: 'utf8'
  })
  if (status !== 0) throw new Error(`${command}: ${stderr}`)
}

async function databaseOn (server: Postgresql): Promise<string> {
  await server.run('create role dispatch_company nologin')
  await server.run('create role dispatch login password \'geheim\' nosuperuser')
  await server.run('grant dispatch_company to dispatch')
  await server.run('create database dispatch owner dispatch')
  return server.url('dispatch', 'geheim', 'dispatch')
}

const skip = installed === undefined ? 'this machine has no PostgreSQL in /usr/lib/postgresql' : false

await t.test('a backup is restored on another server and another machine, as the operators\' page says', { skip }, async (t) => {
  const [first, second] = [await startPostgresql(t, String(installed)), await startPostgresql(t, String(installed))]
  const [here, there] = [dataDirectory(t), dataDirectory(t)]
  const DISPATCH_MASTER_KEY = randomBytes(32).toString('base64')
  const [one, two] = [await databaseOn(first), await databaseOn(second)]
  const service = await startReady(t, { dataDirectory: here, env: { DATABASE_URL: one, DISPATCH_MASTER_KEY } })
  const { body: sent } = await send(service.url(), 'POST', '/api/invoicing', invoiceRequest({ number: 'R-1' }))
  const { body: { data: { token } } } = await send(service.url(), 'POST', '/auth', { username: admin.email, password: admin.password })
  const { bytes } = await bytesOf(service, sent.generatedDocument.id)

  // What is sent after the dump, the restored service does not know.
  const BACKUP = join(dirname(here), 'backup')
  mkdirSync(BACKUP)
  const [dump = '', ...files] = documented('take')
  run(dump, { DATABASE_URL: one, DISPATCH_DATA_DIR: here, BACKUP })
  const { body: later } = await send(service.url(), 'POST', '/api/invoicing', invoiceRequest({ number: 'R-2' }))
  for (const command of files) run(command, { DATABASE_URL: one, DISPATCH_DATA_DIR: here, BACKUP })
  await stop(service)
  await first.stop()

  mkdirSync(there)
  for (const command of documented('restore')) run(command, { DATABASE_URL: two, DISPATCH_DATA_DIR: there, BACKUP })
  const other = await refusalOf(t, {
    dataDirectory: there,
    env: { DATABASE_URL: two, DISPATCH_MASTER_KEY: randomBytes(32).toString('base64') }
  })
  has(t, other, { code: 1, stderr: /^Document Dispatch could not start: The database holds \d+ secrets under the master key/ })
  const restored = await startReady(t, { dataDirectory: there, env: { DATABASE_URL: two, DISPATCH_MASTER_KEY } })
  t.same(await bytesOf(restored, sent.generatedDocument.id), { status: 200, bytes })
  t.equal((await fetch(`${restored.url()}/api/v1/dispatches/${sent.dispatchId}`, { headers: { authorization: `Bearer ${token}` } })).status,
    200, 'the signing keys were opened')
  t.equal((await send(restored.url(), 'GET', `/api/v1/dispatches/${later.dispatchId}`)).status, 404)
  has(t, (await send(restored.url(), 'POST', '/api/invoicing', invoiceRequest({ number: 'R-3' }))).body, { status: 'succeeded' })
  await stop(restored)
})

await t.test('a data directory that was copied while the service stood still goes on elsewhere', async (t) => {
  const [here, there] = [dataDirectory(t), dataDirectory(t)]
  const service = await startReady(t, { dataDirectory: here })
  const { body: sent } = await send(service.url(), 'POST', '/api/invoicing', invoiceRequest())
  const { bytes } = await bytesOf(service, sent.generatedDocument.id)
  await stop(service)
  spawnSync('cp', ['-a', '--no-target-directory', here, there])
  const copied = await startReady(t, { dataDirectory: there })
  t.same(await bytesOf(copied, sent.generatedDocument.id), { status: 200, bytes })
  has(t, (await send(copied.url(), 'POST', '/api/invoicing', invoiceRequest())).body, { status: 'succeeded' })
  await stop(copied)
})
