import t from 'tap'
import { dataDirectory, runDispatch, send, type ServiceProcess, startReady, stop } from '../e2e/support/process.ts'
import { packed } from '../support/adapters.ts'
import { contains, has, matches } from '../support/matching.ts'
import { invoiceRequest, operator, seededEnvironment } from '../support/service.ts'

const seeded = await seededEnvironment(t)
const folder = dataDirectory(t)
const gaps = ['files', 'signals', 'memory', 'connections', 'programs']
const consent = { hosts: ['api.acme.test'], services: ['invoicing'] }

/** A service whose adapters can raise no walls, because its Node makes no calls of the system. */
const startBare = (env: Record<string, string> = {}): Promise<ServiceProcess> =>
  startReady(t, {
    dataDirectory: folder,
    env: { ...seeded, ...env },
    command: [process.execPath, '--no-experimental-ffi', 'scripts/serve.ts']
  })
const market = (service: ServiceProcess, method: string, path: string, body?: unknown): ReturnType<typeof send> =>
  send(service.url(), method, `/api/v1/marketplace${path}`, body, operator)
const add = (service: ServiceProcess, version = '1.0.0'): ReturnType<typeof send> =>
  market(service, 'POST', '/packages', { package: Buffer.from(packed({ code: 'acme', version })).toString('base64') })
const risk =
  /^Only Node's permissions, which stop mistakes and not attackers, keep an adapter from this: read the files of the service, end/

await t.test('without walls no adapter of others is taken in, and the reason says what is missing and what would help', async (t) => {
  const service = await startBare()
  const refused = await add(service)
  has(t, refused, { status: 422, body: { error: 'validation_failed', details: [{ path: '', code: 'walls_missing' }] } })
  contains(t, refused.body.details[0].message, /end the service by a signal.*Linux 5\.13.*bubblewrap.*DISPATCH_SANDBOX_REQUIRED=off/)
  has(t, (await send(service.url(), 'GET', '/healthz')).body, { sandbox: { layers: ['node-permissions'], gaps } })
  await stop(service)
})

await t.test('an operator may run them nevertheless; the log, the health check and the marketplace say what that means', async (t) => {
  const service = await startBare({ DISPATCH_SANDBOX_REQUIRED: 'off' })
  t.equal((await add(service)).status, 201)
  has(t, await market(service, 'POST', '/acme/install', { consent }), { status: 200, body: { state: 'installed' } })
  contains(t, (await market(service, 'GET', '/acme')).body.health.risk, risk)
  has(t, (await send(service.url(), 'GET', '/healthz')).body, { sandbox: { layers: ['node-permissions'], gaps } })
  const warned = service.log().filter(({ level }) => level === 'warn' || level === 40)
  t.ok(warned.some(({ msg }) => msg === 'adapters of others run here nevertheless, because DISPATCH_SANDBOX_REQUIRED is off'))
  t.ok(warned.some(({ msg }) => String(msg).includes('end the service by a signal')))

  t.equal((await send(service.url(), 'PUT', '/api/v1/company/providers/acme', { settings: {} })).status, 200)
  t.equal((await send(service.url(), 'POST', '/api/invoicing', invoiceRequest({}, { providerName: 'acme' }))).status, 200)
  t.equal((await add(service, '1.1.0')).status, 201)
  t.equal((await market(service, 'POST', '/acme/upgrade', { version: '1.1.0', consent })).status, 200)
  await stop(service)
})

await t.test('one that was installed before does not run without walls, and the list says why; shipped ones go on', async (t) => {
  const service = await startBare()
  const { body: { data } } = await send(service.url(), 'GET', '/api/v1/providers', undefined, operator)
  const acme = data.find(({ code }: { code?: string }) => code === 'acme')
  t.equal(acme.state, 'refused')
  contains(t, acme.health.reason, /^The code of others is not run here\. Only Node's permissions/)
  t.equal((await send(service.url(), 'POST', '/api/invoicing', invoiceRequest())).status, 200)

  const refused = await market(service, 'POST', '/acme/rollback')
  has(t, refused, { status: 422, body: { details: [{ code: 'walls_missing' }] } }, 'whom it would stop is not known')
  await stop(service)
})

await t.test('a change whose effects cannot be told is forced twice at the command line, which says so', async (t) => {
  const rollback = (...force: string[]): ReturnType<typeof runDispatch> =>
    runDispatch(['marketplace', 'rollback', 'acme', ...force], {
      env: { ...seeded, DISPATCH_DATA_DIR: folder, NODE_OPTIONS: '--no-experimental-ffi' }
    })
  const once = await rollback('--force')
  has(t, once, { code: 1, stdout: '' })
  matches(t, once.stderr, /^Whom it would stop cannot be told: .*Nothing was changed\. Twice --force changes it nevertheless\.\n$/)
  has(t, await rollback('--force', '--force'), { code: 0, stdout: /^acme 1\.0\.0/, stderr: /^Whom it would stop cannot be told: .*\n$/ })
})
