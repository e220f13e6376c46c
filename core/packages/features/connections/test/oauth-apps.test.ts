import { sql } from 'kysely'
import t from 'tap'
import { Type } from 'typebox'
import { hasNoFault } from '../../../../../test/hostile/support.ts'
import { openConsole } from '../../../../../test/plugins/support/console.ts'
import { testProviders } from '../../../../../test/plugins/support/providers.ts'
import { contains, has, lacks } from '../../../../../test/support/matching.ts'
import { quickRenderer } from '../../../../../test/support/quick-renderer.ts'
import { type Answer, invoiceRequest, type Login, startService } from '../../../../../test/support/service.ts'
import { vendorOf } from '../../../../../test/support/vendor.ts'

// A vendor that knows the service by one client, which the operator has registered for all companies.

const { vendor, network } = await vendorOf(t)
const providers = await testProviders(t)
await providers.add('common', {
  settings: '{}',
  errors: '{ at: \'/code\', message: \'/message\', map: {} }',
  more: `connect: {
    authorizationUrl: 'https://api.vendor.example/authorize',
    tokenUrl: 'https://api.vendor.example/token',
    client: 'operator'
  },`
},
  (_request, { http }) =>
    http.post('https://api.vendor.example/invoices', { oauth2: { grant: 'authorization_code' }, json: {} },
      Type.Object({ id: Type.String(), status: Type.String() })))

const service = await startService(t, {
  config: { providerDirectories: providers.directories, limits: { auth: 0, dispatch: 0, validation: 0, requests: 0 } },
  replacements: { network, renderer: quickRenderer }
})
const { send } = service
const [a, b] = [await service.company('first'), await service.company('second')]
const { operator } = a
const database = service.app.get('database')
const secret = 'operator-secret-7d1c52'
const put = (body: object, login: Login = operator, code = 'common'): Promise<Answer> =>
  send('PUT', `/api/v1/oauth-apps/${code}`, { body }, login)
const list = (login: Login = operator): Promise<Answer> => send('GET', '/api/v1/oauth-apps', {}, login)
const begin = (login: Login): Promise<Answer> => send('GET', '/api/v1/company/providers/common/connect', {}, login)
const dispatch = (login: Login): Promise<Answer> =>
  send('POST', '/api/invoicing', { body: invoiceRequest({}, { providerName: 'common' }) }, login)
async function connect (login: Login): Promise<Answer> {
  const state = new URL(String((await begin(login)).body.url)).searchParams.get('state') ?? ''
  const page = String((await send('GET', `/api/connect/common/callback?code=c&state=${state}`, {}, null)).body)
  const confirmation = /"confirmation": "([\w-]{43})"/.exec(page)?.[1] ?? ''
  return await send('POST', '/api/v1/company/providers/common/connect', { body: { confirmation } }, login)
}
for (const { admin } of [a, b]) await send('PUT', '/api/v1/company/providers/common', { body: { settings: {} } }, admin)
const issue = (expiresIn = 3600): void =>
  vendor.on('POST /token', { json: { access_token: `token of ${String(expiresIn)}`, refresh_token: 'renews', expires_in: expiresIn } })
vendor.on('POST /invoices', { json: { id: 'inv-1', status: 'sent' } })
const signedIn = `Basic ${Buffer.from(`client-of-all:${secret}`).toString('base64')}`

await t.test('without it nothing is connected, and who could change that is told', async (t) => {
  has(t, await list(), {
    status: 200,
    body: {
      data: [{
        code: 'common',
        name: 'Test common',
        sandbox: false,
        redirectUri: 'https://dispatch.example.com/api/connect/common/callback',
        clientId: null,
        hasSecret: false,
        state: 'missing',
        changedAt: null
      }]
    }
  })
  has(t, await begin(a.admin), { status: 409, body: { error: 'conflict', message: /client of the operator .* has not registered one/ } })
})

await t.test('the operator registers it once; each company connects its own account by it', async (t) => {
  has(t, await put({ clientId: 'client-of-all', clientSecret: secret }), { status: 200, body: { state: 'ready', hasSecret: true } })
  issue()
  for (const { admin } of [a, b]) {
    const { body: { url } } = await begin(admin)
    t.equal(new URL(String(url)).searchParams.get('client_id'), 'client-of-all')
    has(t, await connect(admin), { status: 200, body: { connection: { state: 'connected' } } })
    has(t, await dispatch(admin), { status: 200 })
  }
  t.same(vendor.requests.filter(({ path }) => path === '/token').map(({ headers }) => headers['authorization']), [signedIn, signedIn])
  const { rows } = await sql`select * from oauth_apps`.execute(database.owner)
  for (const text of [JSON.stringify(rows), JSON.stringify((await list()).body), service.log.join('\n')]) lacks(t, text, secret)
  const { body: { data } } = await send('GET', '/api/v1/audit?action=oauth-app.changed', {}, operator)
  has(t, data, [{ object: { kind: 'provider', id: 'common' }, facts: { sandbox: false } }])
})

await t.test('nobody but operators sees or changes it', async (t) => {
  for (const login of [a.admin, a.member]) {
    has(t, await list(login), { status: 403 })
    has(t, await put({ clientId: 'mine', clientSecret: 'another-secret' }, login), { status: 403 })
    has(t, await send('DELETE', '/api/v1/oauth-apps/common', {}, login), { status: 403 })
  }
  has(t, await put({ clientId: 'x' }, operator, 'simulator'), { status: 404 })
  has(t, await put({ clientId: 'x', sandbox: true }), { status: 404, body: { message: /in an environment for tests/ } })
})

await t.test('a secret stays with its client and with the hosts for which it was given', async (t) => {
  has(t, await put({ clientId: 'client-of-all' }), { body: { hasSecret: true } })
  await sql`update oauth_apps set hosts = '{elsewhere.example.com}'`.execute(database.owner)
  has(t, await list(), { body: { data: [{ state: 'hosts_changed' }] } })
  has(t, await begin(a.admin), { status: 409, body: { message: /other hosts by now/ } })
  has(t, await put({ clientId: 'client-of-all' }), { body: { hasSecret: false, state: 'ready' } }, 'it was for other hosts')
  await put({ clientId: 'client-of-all', clientSecret: secret })
  has(t, await put({ clientId: 'another-client' }), { body: { hasSecret: false } }, 'it was for another client')
  await put({ clientId: 'client-of-all', clientSecret: secret })
  has(t, await put({ clientId: 'client-of-all', clientSecret: null }), { body: { hasSecret: false } })
  await put({ clientId: 'client-of-all', clientSecret: secret })
})

await t.test('without it, connections go on until their tokens have to be renewed; then nothing is sent', async (t) => {
  issue(0)
  has(t, await connect(b.admin), { status: 200 })
  issue()
  has(t, await send('DELETE', '/api/v1/oauth-apps/common', {}, operator), { status: 204 })
  has(t, await send('DELETE', '/api/v1/oauth-apps/common', {}, operator), { status: 404 })
  const before = vendor.requests.length
  has(t, await dispatch(b.admin), { status: 503, body: { error: 'provider_unavailable' } })
  t.equal(vendor.requests.length, before)
  await put({ clientId: 'client-of-all', clientSecret: secret })
  has(t, await dispatch(b.admin), { status: 200 })
})

await t.test('in the console it is a page of the operator', async (t) => {
  const { confirm, signIn, open, post } = openConsole(service)
  const cookie = await signIn(operator)
  const page = await open('/oauth-apps', cookie)
  contains(t, page.body, 'https://dispatch.example.com/api/connect/common/callback')
  lacks(t, page.body, secret)
  has(t, await list(), { body: { data: [{ connections: 2 }] } })
  contains(t, (await post('/oauth-apps/common/remove', { sandbox: 'false' }, cookie)).body, '<dd>2</dd>')
  const typed = { sandbox: 'false', 'clientId-common': 'from-the-console', 'clientSecret-common': 'console-secret-91' }
  t.equal((await post('/oauth-apps/common', typed, cookie)).headers.get('location'), '/console/oauth-apps')
  has(t, await list(), { body: { data: [{ clientId: 'from-the-console', hasSecret: true }] } })
  has(t, await post('/oauth-apps/common', { sandbox: 'false', 'clientId-common': '' }, cookie), { status: 400 })
  t.equal((await confirm('/oauth-apps/common/remove', { sandbox: 'false' }, cookie)).status, 303)
  has(t, await list(), { body: { data: [{ state: 'missing' }] } })
})

await t.test('nothing of it was a fault', (t) => {
  hasNoFault(t, service)
  t.end()
})
