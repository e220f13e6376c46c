import { sql } from 'kysely'
import { randomUUID } from 'node:crypto'
import t, { type Test } from 'tap'
import { Type } from 'typebox'
import { hasNoFault } from '../../../../../test/hostile/support.ts'
import { testProviders } from '../../../../../test/plugins/support/providers.ts'
import { contains, has, lacks, matches } from '../../../../../test/support/matching.ts'
import { quickRenderer } from '../../../../../test/support/quick-renderer.ts'
import { type Answer, invoiceRequest, type Login, startService } from '../../../../../test/support/service.ts'
import { vendorOf } from '../../../../../test/support/vendor.ts'

// What a vendor says of the account that is connected, addresses that depend on it, and the end of its tokens.

const { vendor, network } = await vendorOf(t)
const providers = await testProviders(t)
const Sent = Type.Object({ id: Type.String(), status: Type.String() })
const errors = '{ at: \'/code\', message: \'/message\', map: {} }'
await providers.add('ledger', {
  settings: '{ clientId: Type.String(), clientSecret: Secret() }',
  errors,
  more: `hosts: ['ledger.example.com', 'test.ledger.example.com', 'login.ledger.example.com'],
  sandbox: { kind: 'configuration' },
  connect: {
    authorizationUrl: 'https://login.ledger.example.com/authorize',
    tokenUrl: 'https://login.ledger.example.com/token',
    revocationUrl: 'https://login.ledger.example.com/revoke',
    sandbox: { authorizationUrl: 'https://test.ledger.example.com/authorize', tokenUrl: 'https://test.ledger.example.com/token' },
    clientId: 'clientId',
    clientSecret: 'clientSecret',
    facts: { realm: { redirect: 'realmId', pattern: '[0-9]{1,20}' } }
  },
  check: ({ http, facts }) => http.get('https://ledger.example.com/' + facts.realm, { oauth2: { grant: 'authorization_code' } }, Type.Any()),`
},
  (_request, { http, facts, sandbox }) =>
    http.post(`https://${sandbox ? 'test.' : ''}ledger.example.com/${facts['realm'] ?? ''}/invoices`, {
      oauth2: { grant: 'authorization_code' },
      json: {}
    }, Sent))
await providers.add('centres', {
  settings: `{
    centre: Type.Union([Type.Literal('com'), Type.Literal('co.uk')]),
    clientId: Type.String()
  }`,
  errors,
  more: `hosts: ['accounts.centres.com', 'accounts.centres.co.uk', '{shard}.api.centres.com'],
  connect: {
    authorizationUrl: 'https://accounts.centres.{centre}/authorize',
    tokenUrl: 'https://accounts.centres.{centre}/token',
    refreshUrl: 'https://{shard}.api.centres.com/refresh',
    clientId: 'clientId',
    facts: { shard: { token: '/api_domain', pattern: 'https://([a-z0-9.-]+)\\\\.api\\\\.centres\\\\.com' } }
  },`
}, (_request, { http, facts }) =>
  http.post(`https://${facts['shard'] ?? ''}.api.centres.com/invoices`, {
    oauth2: { grant: 'authorization_code', scheme: 'Centres-oauthtoken' },
    json: {}
  }, Sent))

await providers.add('notifying', {
  of: 'sms',
  settings: '{ clientId: Type.String(), key: Type.Optional(Secret()) }',
  errors,
  service: 'idempotency: { kind: \'none\' }',
  more: `connect: {
    authorizationUrl: 'https://api.vendor.example/authorize',
    tokenUrl: 'https://api.vendor.example/token',
    clientId: 'clientId'
  },
  webhooks: { sms: {
    verify: { kind: 'hmac', header: 'x-mac', algorithm: 'sha256', encoding: 'hex', secret: 'key' },
    body: Type.Object({ id: Type.String() }), read: ({ id }) => ({ remoteId: id, type: 'done' }), events: { done: 'delivered' }
  } },`
}, () => Promise.resolve({ id: '1', status: 'sent' }), {
  async subscribe ({ url, secret }, { http }) {
    const call = { oauth2: { grant: 'authorization_code' as const }, json: { url } }
    const { id } = await http.post('https://api.vendor.example/hooks', call, Type.Object({ id: Type.String() }))
    return { id, secrets: { key: secret } }
  },
  unsubscribe: ({ id }, { http }) =>
    http.delete(`https://api.vendor.example/hooks/${id}`, { oauth2: { grant: 'authorization_code' } }, Type.Any())
})

const service = await startService(t, {
  config: { providerDirectories: providers.directories, limits: { auth: 0, dispatch: 0, validation: 0, requests: 0 } },
  replacements: { network, renderer: quickRenderer }
})
const { send } = service
const own = (code: string): string => `/api/v1/company/providers/${code}`
const configure = (login: Login, code: string, settings: object, sandbox = false): Promise<Answer> =>
  send('PUT', own(code), { body: { settings, sandbox } }, login)
const configureLedger = (login: Login, sandbox = false): Promise<Answer> =>
  configure(login, 'ledger', { clientId: 'client-1', clientSecret: 'client-secret-5f2b8c91' }, sandbox)
async function begin (login: Login, code: string): Promise<URL> {
  return new URL(String((await send('GET', `${own(code)}/connect`, {}, login)).body.url))
}
/** Connects as a person would; `more` is what the vendor appends to its redirect. */
async function connect (login: Login, code: string, more: Record<string, string> = {}): Promise<Answer> {
  const state = (await begin(login, code)).searchParams.get('state') ?? ''
  const query = new URLSearchParams({ code: 'code-1', state, ...more })
  const page = String((await send('GET', `/api/connect/${code}/callback?${String(query)}`, {}, null)).body)
  const confirmation = /"confirmation": "([\w-]{43})"/.exec(page)?.[1] ?? ''
  return await send('POST', `${own(code)}/connect`, { body: { confirmation } }, login)
}
const dispatch = (login: Login, providerName: string): Promise<Answer> =>
  send('POST', '/api/invoicing', { body: invoiceRequest({}, { providerName }) }, login)
const requested = (path: string) => vendor.requests.filter((request) => request.path === path)
const factsOf = async (companyId: number): Promise<unknown> => {
  const found = await sql<{ facts: unknown }>`select facts from connections where company_id = ${companyId}`.execute(
    service.app.get('database').owner
  )
  return found.rows.map(({ facts }) => facts)
}
const refused = { status: 422, body: { error: 'authentication_error', message: /has not said "(realm|shard)" of the account/ } }

function issue (more: object = {}, expiresIn = 3600): string {
  const access = randomUUID()
  for (const path of ['/token', '/refresh']) {
    vendor.on(`POST ${path}`, { json: { access_token: access, refresh_token: `renews ${access}`, expires_in: expiresIn, ...more } })
  }
  return access
}

/** A company that is connected with the ledger. */
async function ledgerOf (t: Test, name: string) {
  const company = await service.company(name)
  await configureLedger(company.admin)
  const access = issue()
  t.equal((await connect(company.admin, 'ledger', { realmId: '4620816365' })).status, 200)
  vendor.requests.length = 0
  return { ...company, access }
}

await t.test('what the redirect says of the account is kept, and read by the verbs', async (t) => {
  const { admin, companyId, access } = await ledgerOf(t, 'realm')
  vendor.on('POST /4620816365/invoices', { json: { id: 'inv-1', status: 'sent' } })
  vendor.on('GET /4620816365', { json: {} })
  has(t, await dispatch(admin, 'ledger'), { status: 200, body: { providerResponse: { id: 'inv-1' } } })
  has(t, await send('POST', `${own('ledger')}/check`, {}, admin), { body: { result: 'ok' } })
  t.same(vendor.requests.map(({ path, headers }) => [path, headers['authorization']]), [['/4620816365/invoices', `Bearer ${access}`], [
    '/4620816365',
    `Bearer ${access}`
  ]])
  t.same(await factsOf(companyId), [{ realm: '4620816365' }])
  const dry = await send('POST', `${own('ledger')}/dry-run`, { body: invoiceRequest() }, admin)
  has(t, dry, { body: { requests: [{ url: 'https://ledger.example.com/4620816365/invoices' }] } })
})

await t.test('what is hostile in a redirect connects nothing, and asks the vendor nothing', async (t) => {
  const { admin, companyId } = await service.company('hostile redirects')
  await configureLedger(admin)
  issue()
  vendor.requests.length = 0
  for (const realmId of ['', '../../admin', '1/../2', '1?x=1', '1#', '1\n2', '１２', 'x'.repeat(600), '1'.repeat(21), '1@evil.example']) {
    has(t, await connect(admin, 'ledger', { realmId }), refused, JSON.stringify(realmId))
  }
  has(t, await connect(admin, 'ledger'), refused, 'it is not there')
  t.same(vendor.requests, [])
  t.same(await factsOf(companyId), [])
  lacks(t, service.log.join('\n'), /evil\.example|\.\.\/admin/)
})

await t.test('a configuration of the test environment is connected at its addresses', async (t) => {
  const { admin } = await service.company('sandbox')
  await configureLedger(admin, true)
  vendor.requests.length = 0
  issue()
  vendor.on('POST /12/invoices', { json: { id: 'inv-1', status: 'sent' } })
  t.equal((await begin(admin, 'ledger')).host, 'test.ledger.example.com')
  t.equal((await connect(admin, 'ledger', { realmId: '12' })).status, 200)
  has(t, await dispatch(admin, 'ledger'), { status: 200 })
  t.same(vendor.requests.map(({ headers }) => headers['host']), ['test.ledger.example.com', 'test.ledger.example.com'])
})

await t.test('the settings choose the data centre, and the answer with the token the shard', async (t) => {
  const { admin, companyId } = await service.company('centres')
  await configure(admin, 'centres', { centre: 'co.uk', clientId: 'client-2' })
  vendor.requests.length = 0
  const access = issue({ api_domain: 'https://eu1.api.centres.com' }, 0)
  t.equal((await begin(admin, 'centres')).host, 'accounts.centres.co.uk')
  t.equal((await connect(admin, 'centres')).status, 200)
  t.same(await factsOf(companyId), [{ shard: 'eu1' }])
  vendor.on('POST /invoices', { json: { id: 'inv-1', status: 'sent' } })
  // It moves, and the next call knows it.
  issue({ api_domain: 'https://eu2.api.centres.com' })
  has(t, await dispatch(admin, 'centres'), { status: 200 })
  has(t, await dispatch(admin, 'centres'), { status: 200 })
  const [exchange, renewal, first, second] = vendor.requests
  t.same([exchange, renewal, first, second].map((request) => `${request?.headers['host'] ?? ''}${request?.path ?? ''}`), [
    'accounts.centres.co.uk/token',
    'eu1.api.centres.com/refresh',
    'eu1.api.centres.com/invoices',
    'eu2.api.centres.com/invoices'
  ])
  matches(t, first?.headers['authorization'], /^Centres-oauthtoken [\w-]{36}$/)
  t.not(first?.headers['authorization'], `Centres-oauthtoken ${access}`)
  // Another centre has issued nothing.
  has(t, await configure(admin, 'centres', { centre: 'com', clientId: 'client-2' }), { body: { connection: { state: 'not_connected' } } })
})

await t.test('a hostile fact of a token leads nowhere else: nothing is connected, and what was known stays', async (t) => {
  const { admin, companyId } = await service.company('hostile tokens')
  await configure(admin, 'centres', { centre: 'com', clientId: 'client-3' })
  const hostile = ['https://evil.example', 'https://eu1.api.centres.com.evil.example', 'https://eu1.api.centres.com@evil.example',
    'https://evil.example/.api.centres.com', 'http://eu1.api.centres.com', 'https://eu1.api.centres.com:8443', 'https://.api.centres.com',
    '', 7, null, ['https://eu1.api.centres.com'], { '0': 'https://eu1.api.centres.com' }, `https://${'a'.repeat(600)}.api.centres.com`]
  for (const domain of hostile) {
    issue({ api_domain: domain })
    has(t, await connect(admin, 'centres'), refused, JSON.stringify(domain))
  }
  t.same(await factsOf(companyId), [])
  // It fits the pattern, and is no label of a host: the shard is none of the hosts of the manifest.
  issue({ api_domain: 'https://evil.example.api.centres.com' })
  t.equal((await connect(admin, 'centres')).status, 200)
  vendor.requests.length = 0
  t.not((await dispatch(admin, 'centres')).status, 200)
  t.same(vendor.requests, [])
  issue({ api_domain: 'https://eu1.api.centres.com' }, 0)
  await connect(admin, 'centres')
  issue({ api_domain: 'https://evil.example' })
  vendor.on('POST /invoices', { json: { id: 'inv-1', status: 'sent' } })
  has(t, await dispatch(admin, 'centres'), { status: 200 })
  t.same(await factsOf(companyId), [{ shard: 'eu1' }])
})

await t.test('an account of which a fact is missing has to be connected again', async (t) => {
  const { admin, companyId } = await ledgerOf(t, 'older')
  await sql`update connections set facts = '{}' where company_id = ${companyId}`.execute(service.app.get('database').owner)
  has(t, await dispatch(admin, 'ledger'), { status: 422, body: { error: 'configuration_missing', message: /"realm" of the account/ } })
  t.equal((await connect(admin, 'ledger', { realmId: '7' })).status, 200)
  vendor.on('POST /7/invoices', { json: { id: 'inv-1', status: 'sent' } })
  has(t, await dispatch(admin, 'ledger'), { status: 200 })
})

await t.test('tokens are ended at the vendor when the connection, or the whole configuration, is removed', async (t) => {
  vendor.on('POST /revoke', { status: 200, json: {} })
  const authorization = `Basic ${Buffer.from('client-1:client-secret-5f2b8c91').toString('base64')}`
  for (const path of [`${own('ledger')}/connect`, own('ledger')]) {
    const { admin, access, companyId } = await ledgerOf(t, `ends at ${path.length}`)
    t.equal((await send('DELETE', path, {}, admin)).status, 204)
    t.same(requested('/revoke').map(({ form, headers }) => [form, headers['authorization'], headers['host']]), [[
      { token: `renews ${access}`, token_type_hint: 'refresh_token' },
      authorization,
      'login.ledger.example.com'
    ]])
    t.same(await factsOf(companyId), [])
    lacks(t, service.log.join('\n'), access)
  }
})

await t.test('a vendor that does not end a token keeps nobody from removing it, and the operator is told', async (t) => {
  const answers = { away: { status: 503 }, refuses: { status: 400, json: { error: 'unsupported_token_type' } } }
  for (const [name, answer] of Object.entries(answers)) {
    const { admin, companyId, access } = await ledgerOf(t, name)
    vendor.on('POST /revoke', answer)
    const before = service.log.length
    t.equal((await send('DELETE', own('ledger'), {}, admin)).status, 204)
    t.same(await factsOf(companyId), [])
    const lines = service.log.slice(before).join('\n')
    contains(t, lines, 'a token is left valid at a vendor')
    lacks(t, lines, access)
  }
})

await t.test('the webhook is registered by the account once it is connected; where the vendor does not, that is told', async (t) => {
  const { admin } = await service.company('notified')
  const access = issue()
  vendor.requests.length = 0
  has(t, await configure(admin, 'notifying', { clientId: 'client-4' }), { status: 200 })
  t.same(vendor.requests, [], 'nobody has permitted it yet')
  vendor.on('POST /hooks', { status: 400, json: { code: 'no', message: 'Not today.' } })
  has(t, await connect(admin, 'notifying'), {
    status: 200,
    body: {
      connection: { state: 'connected' },
      warnings: [{ code: 'webhook_not_registered', message: /Not today\..*Save the settings again/ }]
    }
  })
  vendor.on('POST /hooks', { json: { id: 'wh_1' } })
  const again = await connect(admin, 'notifying')
  has(t, again, { status: 200, body: { valid: true, settings: { key: { set: true } }, webhooksRegistered: { sms: String } } })
  t.equal(again.body.warnings, undefined)
  t.same(requested('/hooks').map(({ headers, json }) => [headers['authorization'], json]), [1, 2].map(() => [
    `Bearer ${access}`,
    { url: again.body.webhookUrl }
  ]))
  has(t, await configure(admin, 'notifying', { clientId: 'client-4' }), { body: { webhooksRegistered: { sms: String } } })
  t.equal(requested('/hooks').length, 3, 'and when it is saved')
})

await t.test('nothing of it was a fault', (t) => {
  hasNoFault(t, service)
  t.end()
})
