import t from 'tap'
import { isError, routesOf } from '../hostile/support.ts'
import { clockAt } from '../support/clock.ts'
import { contains, lacks } from '../support/matching.ts'
import { type Answer, type Login, startService } from '../support/service.ts'

const clock = clockAt('2026-03-14T09:00:00Z')
const service = await startService(t, { replacements: { now: clock.now } })
const { send } = service
const company = await service.company('proof')

/**
 * Every operation that changes something, by whether it needs a fresh proof. A new one has its place here, and a reason for it: what adds,
 * changes or shows a credential, an e-mail address, a key or a secret, or decides who gets in, needs one.
 */
const operations = {
  needed: [
    'createKey',
    'grantDeviceLogin',
    'beginMyPasskey',
    'addMyPasskey',
    'beginMySecondFactor',
    'confirmMySecondFactor',
    'resetSecondFactor',
    'resetUser',
    'createUser',
    'updateUser',
    'createInvitation',
    'renewInvitation',
    'createPasswordLink',
    'updateSingleSignOn',
    'deleteSingleSignOn',
    'updateOAuthApp',
    'deleteOAuthApp',
    'unlinkUser',
    'updateCompanyDomains',
    'createCompany',
    // It can end the demand for a second factor, and open the list of addresses.
    'updateSettings',
    // Whoever mails the links can read them.
    'updateLinkMail',
    'deleteLinkMail',
    'createCallbackEndpoint',
    'updateCallbackEndpoint',
    'rotateCallbackEndpointSecret',
    'createCallbackSecret'
  ],
  // It can open the list of addresses, and disable, which must never wait for a password.
  neededInPart: ['updateCompany'],
  // The request itself carries the password or a code.
  inBody: ['renewMyRecoveryCodes', 'removeMySecondFactor', 'removeMyPasskey', 'unlinkMySingleSignOn', 'changeMyPassword'],
  // They take access away, which must never wait for a password.
  revoking: ['deleteKey', 'declineDeviceLogin', 'endMySession', 'withdrawInvitation', 'deleteCallbackEndpoint'],
  // Nobody is signed in: a password or the secret of a link is in the request.
  anonymous: ['login', 'requestPasswordLink', 'readLink', 'useLink', 'beginDeviceLogin', 'takeDeviceKey', 'receiveWebhook',
    'createSimulatorEvent'],
  // The token keeps the time of the proof of who acts.
  kept: ['impersonate'],
  // Names, roles of companies, credits, settings of providers, which no answer shows, and the work itself.
  free: [
    'renameMyPasskey',
    'readDeviceLogin',
    'creditCompany',
    'testCallbackEndpoint',
    'resendFailedCallbacks',
    'replayCallback',
    'createBatch',
    'pauseBatch',
    'resumeBatch',
    'cancelBatch',
    'retryBatch',
    'retryDispatch',
    'cancelDispatch',
    'sayInvoiceStatus',
    'moveDispatch',
    'resolveDispatch',
    'resolveHold',
    'releaseQueue',
    'createTemplate',
    'createTemplateVersion',
    'publishTemplate',
    'deleteTemplate',
    'previewTemplate',
    'previewEInvoices',
    'previewTemplateText',
    'createAsset',
    'replaceAsset',
    'deleteAsset',
    'addAdapterPackage',
    'refreshCatalogs',
    'installAdapter',
    'upgradeAdapter',
    'offerAdapter',
    'removeAdapter',
    'rollBackAdapter',
    'enableAdapter',
    'disableAdapter',
    'reloadProviders',
    'acceptPublisher',
    'checkCompanyProvider',
    'suggestMyProviderSettings',
    'suggestCompanyProviderSettings',
    'dryRunCompanyProvider'
  ]
} as const

/** They need one where requests of a provider would go elsewhere. */
const byDestination = ['configureMyProvider', 'configureCompanyProvider']

/** Operations of which there is one for each service, chain or scope. */
const families =
  /^(?:(?:dispatch|validate)[A-Z]\w+|(?:choose|configure|connect|disconnect)(?:My|Company)Provider|confirm(?:My|Company)Connection|delete(?:My|Company)ProviderConfiguration)$/

const decided: string[] = [...Object.values(operations).flat()]

// Features say it among their permissions: a new one is not decided here.
const routes = (await routesOf(service.app)).filter(({ operation, config }) =>
  operation !== undefined && (config.feature === undefined || decided.includes(operation))
)
const changing = routes.filter(({ method }) => method !== 'GET' && method !== 'HEAD')

await t.test('each operation that changes something says whether it needs a fresh proof, and none that reads does', (t) => {
  const others = changing.map(({ operation = '' }) => operation).filter((name) => !families.test(name))
  t.same(others.filter((name) => !decided.includes(name)), [], 'decide: does it need one?')
  t.same(decided.filter((name) => !others.includes(name)), [], 'there is no such operation')
  const needing = routes.filter(({ config }) => config.freshProof === true)
  t.same(needing.map(({ operation = '' }) => operation).toSorted(), operations.needed.toSorted())
  t.same(needing.filter(({ method }) => method === 'GET'), [])
  const inPart = routes.filter(({ config }) => config.freshProof !== undefined && config.freshProof !== true)
  t.same(inPart.map(({ operation = '' }) => operation).toSorted(), [...operations.neededInPart, ...byDestination].toSorted())
  t.end()
})

const tokenOf = async ({ email: username, password }: Login): Promise<string> =>
  (await send('POST', '/auth', { body: { username, password } }, null)).body.data.token as string
const by = (token: string, method: string, path: string, body?: unknown): Promise<Answer> =>
  send(method, path, { headers: { authorization: `Bearer ${token}` }, ...body === undefined ? {} : { body } }, null)
const pathOf = (url: string): string => url.replaceAll(/:\w+/g, '7')

await t.test('with a token whose login is more than five minutes ago each of them is refused, and says how to go on', async (t) => {
  for (const { method, url, operation = '', config: { roles } } of routes.filter(({ config }) => config.freshProof === true)) {
    const login = roles === undefined || roles.includes('admin') ? company.admin : company.operator
    const token = await tokenOf(login)
    clock.advance(300)
    const { status, body } = await by(token, method, pathOf(url), {})
    t.not(status, 401, `${operation} just in time: ${JSON.stringify(body)}`)
    clock.advance(1)
    const refused = await by(token, method, pathOf(url), {})
    isError(t, refused, 'fresh_proof_required', operation)
    contains(t, refused.body.message, 'POST /auth')
    contains(t, refused.headers.get('www-authenticate'), /Bearer [^,]+, error="insufficient_user_authentication".*, max_age="300"/)
    const refreshed = (await by(token, 'GET', '/auth/refresh')).body.data.token as string
    isError(t, await by(refreshed, method, pathOf(url), {}), 'fresh_proof_required', `${operation}, refreshed`)
    t.equal((await by(refreshed, 'GET', '/api/v1/credits')).status, 200, 'for everything else the token is good')
  }
})

await t.test('settings that lead a provider elsewhere need a fresh proof, of a person and no program; others do not', async (t) => {
  const settings = { host: 'mail.acme.test', user: 'user', password: 'password', allowedSenders: ['@acme.test'] }
  const { body: { key } } = await send('POST', '/api/v1/keys', { body: { name: 'setup', mode: 'live', scopes: ['configuration'] } },
    company.admin)
  for (const path of ['/api/v1/company/providers/smtp', '/api/v1/my/providers/smtp']) {
    const put = (token: string, changed: object): Promise<Answer> => by(token, 'PUT', path, { settings: { ...settings, ...changed } })
    const fresh = await tokenOf(company.admin)
    isError(t, await put(key as string, {}), 'forbidden', 'a key, the first time')
    t.equal((await put(fresh, {})).status, 200)
    t.equal((await put(key as string, { password: 'another' })).status, 200, 'a key, at the same place')
    isError(t, await put(key as string, { host: 'mail.evil.test' }), 'forbidden', 'a key')
    clock.advance(301)
    isError(t, await put(fresh, { host: 'mail.evil.test' }), 'fresh_proof_required', path)
    isError(t, await put(fresh, { host: '' }), 'validation_failed', 'what is wrong is told first')
    t.equal((await put(fresh, { password: 'third' })).status, 200)
    t.equal((await send('PUT', path, { body: { settings: { ...settings, host: 'mail.new.test' } } }, company.admin)).status, 200)
  }
})

await t.test('an operator opens the list of addresses of a company with a fresh proof, and disables it without', async (t) => {
  const token = await tokenOf(company.operator)
  const { companyId } = await service.company('doors')
  const path = `/api/v1/companies/${String(companyId)}`
  t.equal((await by(token, 'PUT', path, { addresses: [] })).status, 200)
  clock.advance(301)
  isError(t, await by(token, 'PUT', path, { addresses: [] }), 'fresh_proof_required')
  isError(t, await by(token, 'PUT', path, { addresses: [], disabled: true }), 'fresh_proof_required')
  for (const disabled of [true, false]) t.equal((await by(token, 'PUT', path, { disabled })).status, 200)
})

await t.test('the password in the request is a proof, an API key never is one', async (t) => {
  const { status, body: { key } } = await send('POST', '/api/v1/keys', { body: { name: 'shop', mode: 'live' } }, company.admin)
  t.equal(status, 201)
  isError(t, await by(key as string, 'POST', '/api/v1/keys', { name: 'more', mode: 'live' }), 'forbidden')
  isError(t, await by(key as string, 'POST', '/api/v1/company/callback-secret'), 'forbidden')
  clock.advance(3_600)
  isError(t, await by(key as string, 'POST', '/api/v1/company/callback-endpoints', {}), 'forbidden')
  t.equal((await send('POST', '/api/v1/company/callback-secret', {}, company.admin)).status, 200)
})

await t.test('who acts for another has proved it when they have proved it for themselves', async (t) => {
  const token = await tokenOf(company.operator)
  const users = (await send('GET', '/api/v1/users', {}, company.admin)).body.data as { id: number, email: string }[]
  const userId = users.find(({ email }) => email === company.admin.email)?.id
  clock.advance(200)
  const early = (await by(token, 'POST', '/auth/impersonate', { userId })).body.data.token as string
  t.equal((await by(early, 'POST', '/api/v1/company/callback-secret')).status, 200)
  clock.advance(101)
  isError(t, await by(early, 'POST', '/api/v1/company/callback-secret'), 'fresh_proof_required', 'of the first token')
  const late = (await by(token, 'POST', '/auth/impersonate', { userId })).body.data.token as string
  isError(t, await by(late, 'POST', '/api/v1/company/callback-secret'), 'fresh_proof_required', 'of one that is new')
})

await t.test('a stolen token gives no lasting way in: the owner signs in as before', async (t) => {
  const [victim, { admin: other }] = [company.member, await service.company('other')]
  const stolen = await tokenOf(victim)
  clock.advance(301)
  for (const [path, body] of [['/api/v1/my/passkeys/options', {}], ['/api/v1/my/second-factor', {}], ['/api/v1/keys', {
    name: 'mine',
    mode: 'live'
  }]] as const) {
    const answer = await by(stolen, 'POST', path, body)
    isError(t, answer, 'fresh_proof_required', path)
    lacks(t, JSON.stringify(answer.body), /recoveryCodes|secret"|"key"/)
  }
  t.ok(await tokenOf(victim))
  t.ok(await tokenOf(other))
})
