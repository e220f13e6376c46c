import { spawnSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { delimiter, dirname, join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { createVendor } from '../../core/packages/conformance/vendor/vendor.ts'
import { directory, provide } from '../fixtures/providers/folders.ts'
import { contains, has } from '../support/matching.ts'
import { admin, invoiceRequest, shippedProviders } from '../support/service.ts'
import { installed, type Postgresql, startPostgresql } from './support/postgresql.ts'
import { dataDirectory, refusalOf, root, send, type ServiceProcess, startProcess, startReady, stop } from './support/process.ts'

const authorization = `Basic ${Buffer.from(`${admin.email}:${admin.password}`).toString('base64')}`

async function bytesOf (service: ServiceProcess, documentId: string): Promise<{ status: number, bytes: Buffer }> {
  const answer = await fetch(`${service.url()}/api/v1/documents/${documentId}`, { headers: { authorization } })
  return { status: answer.status, bytes: Buffer.from(await answer.arrayBuffer()) }
}

/** Waits until a dispatch has become so. */
async function statusOf (service: ServiceProcess, dispatchId: string, status: string): Promise<void> {
  while ((await send(service.url(), 'GET', `/api/v1/dispatches/${dispatchId}`)).body.status !== status) await pause(100)
}

/** The commands that the operators' page gives, one a line. */
function documented (block: string): string[] {
  const [, text = ''] =
    new RegExp(`^\`\`\`sh backup=${block}\n([^]*?)^\`\`\`$`, 'm').exec(readFileSync(join(root, 'plugins/guides/operator.md'), 'utf8')) ?? []
  return text.trimEnd().split('\n')
}

/** Runs a documented command as a shell would, npm's with this Node; the page's variables are those of `env`. */
function run (command: string, env: Record<string, string>): void {
  const ours = command.replace(/^npm run dispatch --/, `'${process.execPath}' scripts/dispatch.ts`)
  const { status, stderr } = spawnSync('sh', ['-ec', ours], {
    cwd: root,
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

const vendorToken = 'token-of-the-vendor'

/** A folder of providers: the shipped ones, and one whose vendor honours an idempotency key and is signed in to with a secret. */
async function providersWithKeyed (t: Test): Promise<string> {
  const folder = await directory(t)
  await provide(folder, 'keyed', {
    'index.js': `
import { defineProvider, Host, Secret, Type } from '@dispatch/core/provider'
export default defineProvider({
  code: 'keyed',
  name: 'Keyed',
  settings: Type.Object({ vendor: Host(), token: Secret() }),
  errors: { map: {} },
  services: {
    sms: {
      idempotency: { kind: 'key', ttl: 86400 },
      dispatch: ({ sms: { message } }, { settings: { vendor, token }, idempotencyKey, http }) =>
        http.post(vendor + '/messages', { bearer: token, headers: { 'idempotency-key': idempotencyKey }, json: { message } },
          Type.Object({ id: Type.String(), status: Type.String() }))
    }
  }
})`
  })
  return [shippedProviders, folder].join(delimiter)
}

const skip = installed === undefined ? 'this machine has no PostgreSQL in /usr/lib/postgresql' : false

await t.test('a backup is restored on another server and another machine, as the operators\' page says', { skip }, async (t) => {
  const [first, second] = [await startPostgresql(t, String(installed)), await startPostgresql(t, String(installed))]
  const [here, there] = [dataDirectory(t), dataDirectory(t)]
  const vendor = await createVendor()
  t.teardown(vendor.close)
  vendor.answer({ json: { id: 'message-1', status: 'sent' } })
  const NODE_EXTRA_CA_CERTS = join(dirname(here), 'authority.pem')
  writeFileSync(NODE_EXTRA_CA_CERTS, vendor.ca)
  const DISPATCH_MASTER_KEY = randomBytes(32).toString('base64')
  const shared = { DISPATCH_MASTER_KEY, NODE_EXTRA_CA_CERTS, DISPATCH_PROVIDERS_DIR: await providersWithKeyed(t) }
  const [one, two] = [await databaseOn(first), await databaseOn(second)]
  const env = { DATABASE_URL: one, ...shared, DISPATCH_WORKER: 'off' }
  const service = await startReady(t, { dataDirectory: here, env })
  const { body: sent } = await send(service.url(), 'POST', '/api/invoicing', invoiceRequest({ number: 'R-1' }))
  const { body: { data: { token } } } = await send(service.url(), 'POST', '/auth', { username: admin.email, password: admin.password })
  const { bytes } = await bytesOf(service, sent.generatedDocument.id)
  await send(service.url(), 'PUT', '/api/v1/company/providers/keyed', {
    settings: { vendor: `https://127.0.0.1:${vendor.port}`, token: vendorToken }
  })
  const sms = { phoneNumber: '+33612345678', message: 'Hello.' }
  const { body: queued } = await send(service.url(), 'POST', '/api/sms?async=true', { providerName: 'keyed', sms })

  // What is sent after the dump, the restored service does not know.
  const BACKUP = join(dirname(here), 'backup')
  mkdirSync(BACKUP)
  const [dump = '', ...files] = documented('take')
  run(dump, { DATABASE_URL: one, DISPATCH_DATA_DIR: here, BACKUP })
  const { body: later } = await send(service.url(), 'POST', '/api/invoicing', invoiceRequest({ number: 'R-2' }))
  for (const command of files) run(command, { DATABASE_URL: one, DISPATCH_DATA_DIR: here, BACKUP })
  const worker = startProcess(t, { dataDirectory: here, env, command: [process.execPath, 'scripts/worker.ts'] })
  await statusOf(service, queued.dispatchId, 'succeeded')
  await Promise.all([stop(worker), stop(service)])
  await first.stop()

  mkdirSync(there)
  for (const command of documented('restore')) run(command, { DATABASE_URL: two, DISPATCH_DATA_DIR: there, BACKUP, DISPATCH_MASTER_KEY })
  const other = await refusalOf(t, {
    dataDirectory: there,
    env: { DATABASE_URL: two, DISPATCH_MASTER_KEY: randomBytes(32).toString('base64') }
  })
  has(t, other, { code: 1, stderr: /^Document Dispatch could not start: The database holds \d+ secrets under the master key/ })
  const restored = await startReady(t, { dataDirectory: there, env: { DATABASE_URL: two, ...shared } })
  await statusOf(restored, queued.dispatchId, 'succeeded')
  const timeline = await send(restored.url(), 'GET', `/api/v1/dispatches/${queued.dispatchId}/events`)
  t.same(timeline.body.data.map(({ kind }: { kind: string }) => kind), ['planned', 'failed', 'calling', 'reconciled'],
    'it was in doubt before it was asked for under its key')
  const keys = vendor.requests.map(({ headers }) => headers['idempotency-key'])
  t.equal(keys.length, 2, 'what was queued at the dump is sent once more')
  contains(t, keys[0], /^[0-9a-f-]{36}$/)
  t.equal(keys[1], keys[0], 'under the key by which the vendor knows it')
  for (const { headers } of vendor.requests) {
    t.equal(headers['authorization'], `Bearer ${vendorToken}`, 'the secret of the provider was opened')
  }
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
