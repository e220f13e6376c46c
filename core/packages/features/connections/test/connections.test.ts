import { countSecretsByMasterKey } from '@dispatch/tables'
import { sql } from 'kysely'
import { hash } from 'node:crypto'
import t, { type Test } from 'tap'
import { Type } from 'typebox'
import { openConsole } from '../../../../../test/plugins/support/console.ts'
import { testProviders } from '../../../../../test/plugins/support/providers.ts'
import { contains, has, lacks } from '../../../../../test/support/matching.ts'
import { quickRenderer } from '../../../../../test/support/quick-renderer.ts'
import { type Answer, invoiceRequest, type Login, seededDatabase, startService } from '../../../../../test/support/service.ts'
import { vendorOf } from '../../../../../test/support/vendor.ts'
import { claimRenewal, endRenewal } from '../store/connections.ts'

const { vendor, network } = await vendorOf(t)
const providers = await testProviders(t)
const oauth2 = '{ grant: \'authorization_code\' }'
await providers.add('books', {
  settings: '{ clientId: Type.String(), clientSecret: Secret() }',
  errors: '{ at: \'/code\', message: \'/message\', map: {} }',
  more: `connect: {
    authorizationUrl: 'https://api.vendor.example/authorize',
    tokenUrl: 'https://api.vendor.example/token',
    scope: 'invoices offline_access',
    clientId: 'clientId',
    clientSecret: 'clientSecret',
    parameters: { prompt: 'consent' }
  },
  check: ({ http }) => http.get('https://api.vendor.example/me', { oauth2: ${oauth2} }, Type.Any()),`
},
  (_request, { http }) =>
    http.post('https://api.vendor.example/invoices', { oauth2: { grant: 'authorization_code' }, json: {} },
      Type.Object({ id: Type.String(), status: Type.String() })))
await providers.add('plain', {}, () => Promise.resolve({ id: '1', status: 'done' }))

const options = {
  databaseUrl: await seededDatabase(t),
  config: { providerDirectories: providers.directories, limits: { auth: 0, dispatch: 0, validation: 0, requests: 0 } },
  replacements: { network, renderer: quickRenderer }
}
const [service, other] = [await startService(t, options), await startService(t, options)]
const { send } = service

const secret = 'client-secret-5f2b8c91'
const configure = (login: Login, clientId = 'client-1'): Promise<Answer> =>
  send('PUT', '/api/v1/company/providers/books', { body: { settings: { clientId, clientSecret: secret } } }, login)
const connect = (login: Login): Promise<Answer> => send('GET', '/api/v1/company/providers/books/connect', {}, login)
const confirm = (confirmation: string, login: Login): Promise<Answer> =>
  send('POST', '/api/v1/company/providers/books/connect', { body: { confirmation } }, login)
const come = (query: Record<string, string>, code = 'books'): Promise<Answer> =>
  send('GET', `/api/connect/${code}/callback?${String(new URLSearchParams(query))}`, {}, null)
const dispatch = (login: Login, { send: through } = service): Promise<Answer> =>
  through('POST', '/api/invoicing', { body: invoiceRequest({}, { providerName: 'books' }) }, login)
const requestsTo = (path: string) => vendor.requests.filter((request) => request.path === path)

/** Tokens in turn, each refresh token good for one use, as with a vendor that rotates them. */
function issue (expiresIn: number): void {
  let count = 0
  let valid = ''
  vendor.on('POST /token', ({ form = {} }) => {
    if (form['grant_type'] === 'refresh_token' && form['refresh_token'] !== valid) {
      return { status: 400, json: { error: 'invalid_grant', error_description: 'The refresh token is used up.' } }
    }
    valid = `refresh-${++count}`
    return { json: { access_token: `access-${count}`, refresh_token: valid, expires_in: expiresIn }, delay: 50 }
  })
}

/** The state in the address of the vendor's page, and what the page showed after the return. */
async function arrive (login: Login): Promise<{ state: string, confirmation: string }> {
  const state = new URL((await connect(login)).body.url as string).searchParams.get('state') ?? ''
  return { state, confirmation: confirmationIn(await come({ code: 'code-1', state })) }
}

const confirmationIn = ({ body }: Answer): string => /"confirmation": "([\w-]{43})"/.exec(String(body))?.[1] ?? ''

/** A company whose configuration is connected. */
async function connected (t: Test, name: string, expiresIn = 3600) {
  const company = await service.company(name)
  await configure(company.admin)
  issue(expiresIn)
  vendor.on('POST /invoices', { json: { id: 'inv-1', status: 'sent' } })
  const { confirmation } = await arrive(company.admin)
  const answer = await confirm(confirmation, company.admin)
  t.equal(answer.status, 200, JSON.stringify(answer.body))
  vendor.requests.length = 0
  return company
}

/** The secrets that a new master key wraps. */
const countSealed = async (): Promise<number> =>
  (await countSecretsByMasterKey(service.app.get('database'))).values().reduce((sum, count) => sum + count, 0)

const connectionOf = async (login: Login): Promise<unknown> => {
  const { body: { company: { providers: [view] } } } = await send('GET', '/api/v1/my/config', {}, login)
  return { state: view.connection.state, valid: view.valid, problems: view.problems?.map(({ code }: { code: string }) => code) }
}

await t.test('a configuration is connected in three steps, and then signs in', async (t) => {
  const { admin } = await service.company('steps')
  issue(3600)
  vendor.on('POST /invoices', { json: { id: 'inv-1', status: 'sent' } })
  vendor.requests.length = 0
  has(t, await configure(admin), {
    body: {
      valid: false,
      connection: { state: 'not_connected', redirectUri: 'https://dispatch.example.com/api/connect/books/callback' },
      problems: [{ path: '/connection', code: 'not_connected', message: /GET \/api\/v1\/company\/providers\/books\/connect/ }]
    }
  })
  has(t, await dispatch(admin), { status: 422, body: { error: 'configuration_missing', message: /not connected/ } })

  const begun = await connect(admin)
  has(t, begun, { status: 200, body: { redirectUri: 'https://dispatch.example.com/api/connect/books/callback' } })
  const url = new URL(begun.body.url as string)
  const { state = '', code_challenge: challenge, ...requested } = Object.fromEntries(url.searchParams)
  t.equal(`${url.origin}${url.pathname}`, 'https://api.vendor.example/authorize')
  t.same(requested, {
    response_type: 'code',
    client_id: 'client-1',
    redirect_uri: 'https://dispatch.example.com/api/connect/books/callback',
    scope: 'invoices offline_access',
    prompt: 'consent',
    code_challenge_method: 'S256'
  })

  const page = await come({ code: 'code-1', state, session_state: 'more', iss: 'https://api.vendor.example' })
  has(t, page, { status: 200, body: /“steps” asks to use your account at Test books/ })
  contains(t, page.body, 'https://dispatch.example.com/console/providers/books/connected?confirmation=')
  t.equal(page.headers.get('referrer-policy'), 'no-referrer')
  t.equal(page.headers.get('cache-control'), 'no-store')
  t.same(vendor.requests, [], 'the vendor is asked nothing before the confirmation')

  const sealed = await countSealed()
  has(t, await confirm(confirmationIn(page), admin), {
    status: 200,
    body: { code: 'books', valid: true, connection: { state: 'connected', connectedAt: String } }
  })
  t.equal(await countSealed(), sealed, 'two tokens in place of the verifier and the code')
  const [exchange] = requestsTo('/token')
  t.equal(exchange?.headers['authorization'], `Basic ${Buffer.from(`client-1:${secret}`).toString('base64')}`)
  const { code_verifier: verifier = '', ...form } = exchange?.form ?? {}
  t.same(form, {
    grant_type: 'authorization_code',
    code: 'code-1',
    redirect_uri: 'https://dispatch.example.com/api/connect/books/callback'
  })
  t.equal(hash('sha256', verifier, 'base64url'), challenge)

  has(t, await dispatch(admin), { status: 200, body: { providerResponse: { id: 'inv-1' } } })
  has(t, await dispatch(admin, other), { status: 200 })
  t.same(requestsTo('/invoices').map(({ headers }) => headers['authorization']), ['Bearer access-1', 'Bearer access-1'])
  vendor.on('GET /me', { json: {} })
  has(t, await send('POST', '/api/v1/company/providers/books/check', {}, admin), { body: { result: 'ok' } })

  const before = vendor.requests.length
  const dry = await send('POST', '/api/v1/company/providers/books/dry-run', { body: invoiceRequest() }, admin)
  has(t, dry, { body: { end: 'complete', requests: [{ url: 'https://api.vendor.example/invoices' }] } })
  t.equal(dry.body.requests[0].headers.authorization, 'Bearer [redacted]')
  t.equal(vendor.requests.length, before)

  const { rows } = await sql`select tokens::text from connections`.execute(service.app.get('database').owner)
  for (const text of [service.log.join('\n'), other.log.join('\n'), JSON.stringify(rows), JSON.stringify(dry.body)]) {
    lacks(t, text, /access-1|refresh-1|code-1|client-secret/)
    lacks(t, text, verifier)
    lacks(t, text, confirmationIn(page))
  }
  const { body: { data } } = await send('GET', '/api/v1/audit?action=connection.made', {}, admin)
  has(t, data, [{ object: { kind: 'configuration', id: 'books' }, facts: {} }])
})

await t.test('only the user who has begun confirms it, once, and within the time', async (t) => {
  const { admin, member, companyId } = await service.company('whose')
  const { admin: stranger } = await service.company('stranger')
  await configure(admin)
  await configure(stranger)
  issue(3600)
  const colleague = { email: 'second@whose.example.com', password: 'a good password' }
  await send('POST', '/api/v1/users', { body: { ...colleague, role: 'admin', services: ['*'] } }, admin)
  const { state, confirmation } = await arrive(admin)
  const notValid = { status: 422, body: { error: 'validation_failed', details: [{ path: '/confirmation', code: 'not_valid' }] } }
  has(t, await confirm(confirmation, member), { status: 403 })
  for (const [who, login] of Object.entries({ colleague, stranger })) has(t, await confirm(confirmation, login), notValid, who)
  has(t, await confirm('another', admin), notValid)
  has(t, await confirm('', admin), { status: 400 })
  has(t, await come({ code: 'code-2', state }), { status: 200, body: /There is nothing to connect here/ }, 'it comes once')
  t.equal((await confirm(confirmation, admin)).status, 200)
  has(t, await confirm(confirmation, admin), notValid)

  const late = await arrive(admin)
  await sql`update connection_requests set expires_at = now() where company_id = ${companyId}`.execute(service.app.get('database').owner)
  has(t, await confirm(late.confirmation, admin), notValid)

  const changed = await arrive(admin)
  await configure(admin, 'client-2')
  has(t, await confirm(changed.confirmation, admin), notValid, 'the code was for another client')
})

await t.test('what comes back from a vendor is believed only with the state of a request', async (t) => {
  const { admin } = await service.company('states')
  await configure(admin)
  const stateOf = async (): Promise<string> => new URL((await connect(admin)).body.url as string).searchParams.get('state') ?? ''
  const nothing = { status: 200, body: /There is nothing to connect here/ }
  const [old, state] = [await stateOf(), await stateOf()]
  for (const query of [{ code: 'c' }, { code: 'c', state: 'x'.repeat(43) }, { code: 'c', state: old }, {}]) {
    has(t, await come(query), nothing, JSON.stringify(query))
  }
  has(t, await come({ code: 'c', state }, 'plain'), nothing, 'another provider')
  has(t, await send('GET', `/api/connect/books/callback?state=${state}&state=${state}&code=c`, {}, null), nothing, 'twice')
  const refused = await come({ state, error: 'access_denied', error_description: '<img src=x onerror=alert(1)>' })
  has(t, refused, { status: 200, body: /Test books is not connected/ })
  contains(t, refused.body, '&lt;img src=x')
  lacks(t, refused.body, '<img')
  has(t, await come({ code: 'c', state }), nothing, 'it has ended')
})

await t.test('an expired token is renewed once, however many calls and processes need it', async (t) => {
  const { admin } = await connected(t, 'renewed', 1)
  await new Promise((resolve) => setTimeout(resolve, 1000))
  issueFrom(2)
  const answers = await Promise.all([service, other, service, other, service].map((through) => dispatch(admin, through)))
  t.same(answers.map(({ status }) => status), [200, 200, 200, 200, 200])
  t.same(requestsTo('/token').map(({ form }) => form), [{ grant_type: 'refresh_token', refresh_token: 'refresh-1' }])
  t.same(new Set(requestsTo('/invoices').map(({ headers }) => headers['authorization'])), new Set(['Bearer access-2']))

  vendor.on('POST /invoices', [{ status: 401 }, { json: { id: 'inv-2', status: 'sent' } }])
  has(t, await dispatch(admin), { status: 200, body: { providerResponse: { id: 'inv-2' } } }, 'also when the vendor takes it no more')
  t.same(requestsTo('/token').at(-1)?.form, { grant_type: 'refresh_token', refresh_token: 'refresh-2' })
  t.equal(requestsTo('/invoices').at(-1)?.headers['authorization'], 'Bearer access-3')
})

await t.test('of several who find a token expired, one renews it', async (t) => {
  const { companyId } = await connected(t, 'claimed')
  const database = service.app.get('database')
  const { rows: [{ account, version } = { account: '', version: 0 }] } = await sql<{ account: string, version: number }>`
    select account, version from connections where company_id = ${companyId}`.execute(database.owner)
  const claim = (): Promise<boolean> => claimRenewal(database, { companyId, account, version })
  t.same((await Promise.all([claim(), claim(), claim()])).sort(), [false, false, true])
  await sql`update connections set renewing_until = now() where account = ${account}`.execute(database.owner)
  t.equal(await claim(), true, 'its process has ended')
  await endRenewal(database, { companyId, account, version })
  t.equal(await claimRenewal(database, { companyId, account, version: version + 1 }), false, 'another token')
})

/** Continues with this number, for an hour each. */
function issueFrom (first: number): void {
  let count = first - 1
  vendor.on('POST /token', () => {
    count++
    return { json: { access_token: `access-${count}`, refresh_token: `refresh-${count}`, expires_in: 3600 }, delay: 100 }
  })
}

await t.test('a vendor that takes its permission back is seen, and can be connected again', async (t) => {
  const { admin } = await connected(t, 'ended', 0)
  vendor.on('POST /token', { status: 400, json: { error: 'invalid_grant', error_description: 'The user has withdrawn it.' } })
  has(t, await dispatch(admin), {
    status: 422,
    body: { error: 'authentication_error', message: /has ended the connection .*The user has withdrawn it/ }
  })
  t.same(await connectionOf(admin), { state: 'ended', valid: false, problems: ['connection_ended'] })
  has(t, await dispatch(admin), { status: 422, body: { error: 'configuration_missing', message: /has ended its connection/ } })
  has(t, await dispatch(admin, other), { status: 422, body: { error: 'configuration_missing' } }, 'in every process')
  t.equal(requestsTo('/token').length, 1, 'it is asked no more')
  issue(3600)
  await confirm((await arrive(admin)).confirmation, admin)
  t.same(await connectionOf(admin), { state: 'connected', valid: true, problems: undefined })
  t.equal((await dispatch(admin, other)).status, 200)
})

await t.test('a vendor that cannot be asked leaves everything as it was', async (t) => {
  const { admin } = await connected(t, 'away', 0)
  vendor.on('POST /token', { status: 503 })
  has(t, await dispatch(admin), { status: 503, body: { error: 'provider_unavailable' } })
  vendor.on('POST /token', { cut: 'after-body' })
  has(t, await dispatch(admin), { status: 503, body: { error: 'provider_unavailable' } })
  t.same(await connectionOf(admin), { state: 'connected', valid: true, problems: undefined })
  issueFrom(2)
  t.equal((await dispatch(admin)).status, 200)

  const { confirmation } = await arrive(admin)
  vendor.on('POST /token', { status: 503 })
  has(t, await confirm(confirmation, admin), { status: 503, body: { error: 'provider_unavailable', message: /Confirm it again/ } })
  vendor.on('POST /token', { status: 400, json: { error: 'invalid_grant' } })
  has(t, await confirm(confirmation, admin), { status: 422, body: { error: 'authentication_error', message: /Connect it again/ } })
  has(t, await confirm(confirmation, admin), { status: 422, body: { error: 'validation_failed' } })
})

await t.test('without a refresh token the connection ends with its access token', async (t) => {
  const { admin } = await service.company('short')
  await configure(admin)
  vendor.on('POST /token', { json: { access_token: 'only', expires_in: 0 } })
  await confirm((await arrive(admin)).confirmation, admin)
  has(t, await dispatch(admin), { status: 422, body: { error: 'authentication_error', message: /there is none to renew it/ } })
  t.same(await connectionOf(admin), { state: 'ended', valid: false, problems: ['connection_ended'] })
})

await t.test('another client, or a removal, ends the connection; the secret alone does not', async (t) => {
  const { admin } = await connected(t, 'client')
  has(t, await configure(admin), { body: { connection: { state: 'connected' } } })
  has(t, await configure(admin, 'client-2'), { body: { connection: { state: 'not_connected' }, valid: false } })
  await configure(admin)
  t.equal((await send('DELETE', '/api/v1/company/providers/books/connect', {}, admin)).status, 204)
  has(t, await send('DELETE', '/api/v1/company/providers/books/connect', {}, admin), { status: 404 })
  has(t, await dispatch(admin), { status: 422, body: { error: 'configuration_missing' } })
  t.equal(requestsTo('/invoices').length, 0)
})

await t.test('a private configuration has a connection of its own', async (t) => {
  const { member } = await connected(t, 'private')
  const own = '/api/v1/my/providers/books'
  has(t, await send('PUT', own, { body: { settings: { clientId: 'mine', clientSecret: secret } } }, member), {
    body: { connection: { state: 'not_connected' }, problems: [{ message: /GET \/api\/v1\/my\/providers\/books\/connect/ }] }
  })
  issueFrom(7)
  const state = new URL((await send('GET', `${own}/connect`, {}, member)).body.url as string).searchParams.get('state') ?? ''
  const confirmation = confirmationIn(await come({ code: 'code-9', state }))
  has(t, await send('POST', `${own}/connect`, { body: { confirmation } }, member), { body: { connection: { state: 'connected' } } })
  await dispatch(member)
  t.equal(requestsTo('/invoices').at(-1)?.headers['authorization'], 'Bearer access-7')
})

await t.test('in the console it is a link, a question and a button', async (t) => {
  const { admin } = await service.company('console')
  const { confirm, signIn, open, post } = openConsole(service)
  await configure(admin)
  issue(3600)
  const cookie = await signIn(admin)
  const before = await open('/providers/books', cookie)
  contains(t, before.body, '>https://dispatch.example.com/api/connect/books/callback</code>')
  contains(t, before.body, 'href="/console/providers/books/connect"')
  const away = await open('/providers/books/connect', cookie)
  const state = new URL(away.headers.get('location') ?? '').searchParams.get('state') ?? ''
  const [, link = ''] =
    /href="https:\/\/dispatch\.example\.com\/console([^"]+)"/.exec(String((await come({ code: 'code-1', state })).body)) ?? []
  t.equal((await open(link, '')).status, 303, 'a session is needed')
  const question = await open(link, cookie)
  const [, confirmation = ''] = /name="confirmation" value="([^"]+)"/.exec(String(question.body)) ?? []
  has(t, await post('/providers/books/connected', { confirmation: 'another' }, cookie), { status: 422 })
  t.equal((await post('/providers/books/connected', { confirmation }, cookie)).headers.get('location'), '/console/providers/books')
  contains(t, (await open('/providers/books', cookie)).body, '>connected</span>')
  await post('/services/invoicing', { to: 'books' }, cookie)
  const requested = await post('/providers/books/disconnect', {}, cookie)
  contains(t, requested.body, 'It is the provider of: Invoicing.')
  contains(t, requested.body, '<dt>Services</dt><dd>1</dd>')
  await confirm('/providers/books/disconnect', {}, cookie)
  contains(t, (await open('/providers/books', cookie)).body, '>not connected</span>')
})

await t.test('there is nothing to connect without a configuration, or without "connect"', async (t) => {
  const { admin } = await service.company('nothing')
  has(t, await connect(admin), { status: 404, body: { error: 'not_found', message: /set one first/ } })
  await send('PUT', '/api/v1/company/providers/plain', { body: { settings: {} } }, admin)
  has(t, await send('GET', '/api/v1/company/providers/plain/connect', {}, admin), { status: 409, body: { error: 'conflict' } })
  has(t, await send('GET', '/api/v1/company/providers/nobody/connect', {}, admin), { status: 404 })
})
