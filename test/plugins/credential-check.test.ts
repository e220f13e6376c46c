import t from 'tap'
import { contains, has, lacks } from '../support/matching.ts'
import { quickRenderer } from '../support/quick-renderer.ts'
import { type Answer, type Login, startService } from '../support/service.ts'
import { vendorOf } from '../support/vendor.ts'
import { openConsole } from './support/console.ts'
import { accepts, testProviders } from './support/providers.ts'

const { vendor, network } = await vendorOf(t)
const providers = await testProviders(t)
const settings = '{ token: Secret(), account: Type.Optional(Type.String()) }'
const errors = '{ at: \'/code\', message: \'/message\', map: {} }'
const checking = (source: string): string => `check: async ({ settings, http, ...more }) => { ${source} },`
const asks = 'await http.get(\'https://api.vendor.example/me\', { bearer: settings.token }, Type.Object({ id: Type.String() }))'
await providers.add('vendor', { settings, errors, more: checking(asks) }, accepts)
await providers.add('mute', { settings }, accepts)
await providers.add('writer', { settings, more: checking('await http.post(\'https://api.vendor.example/me\', {}, Type.Any())') }, accepts)
await providers.add('broken', { settings, more: checking('throw new Error(settings.token)') }, accepts)
const ledger = '{ token: Secret({ title: "Token" }), account: Type.String({ title: "Account", maxLength: 8 }) }'
const suggests = `suggestions: {
  account: async ({ settings, http }) => {
    const url = 'https://api.vendor.example/accounts'
    return (await http.get(url, { bearer: settings.token }, Type.Object({ accounts: Type.Array(Type.Any()) }))).accounts
  }
},`
await providers.add('ledger', { settings: ledger, errors, more: suggests }, accepts)
const service = await startService(t, {
  config: { providerDirectories: providers.directories, limits: { auth: 0, dispatch: 12, validation: 0, requests: 0 } },
  replacements: { network, renderer: quickRenderer }
})

const secret = 'tok_live_5f2b8c91d04e'
const configure = (code: string, login: Login): Promise<Answer> =>
  service.send('PUT', `/api/v1/company/providers/${code}`, { body: { settings: { token: secret } } }, login)
const check = (code: string, login: Login): Promise<Answer> => service.send('POST', `/api/v1/company/providers/${code}/check`, {}, login)

await t.test('credentials that work, that fail, and that cannot be checked are three words', async (t) => {
  const { admin, companyId } = await service.company('checking')
  for (const code of ['vendor', 'mute', 'writer', 'broken']) await configure(code, admin)
  const reported = async (code: string): Promise<unknown> => {
    const { status, body } = await check(code, admin)
    return { status, ...body }
  }
  vendor.on('GET /me', { json: { id: '7' } })
  t.same(await reported('vendor'), { status: 200, result: 'ok' })
  t.equal(vendor.requests.at(-1)?.headers['authorization'], `Bearer ${secret}`)
  vendor.on('GET /me', { status: 401, json: { code: 'E1', message: `The key ${secret} is revoked.` } })
  t.same(await reported('vendor'), { status: 200, result: 'failed', code: 'E1', message: 'The key [redacted] is revoked.' })
  vendor.on('GET /me', { status: 503 })
  t.same(await reported('vendor'), { status: 200, result: 'cannot_be_checked', message: '"api.vendor.example" answered 503.' })
  vendor.on('GET /me', { status: 403, text: '<html>Access denied by the gateway</html>' })
  has(t, await reported('vendor'), { result: 'cannot_be_checked', message: /a proxy or firewall/ })
  vendor.on('GET /me', { cut: 'after-body' })
  has(t, await reported('vendor'), { result: 'cannot_be_checked' })
  vendor.on('GET /me', { text: '<html>' })
  has(t, await reported('vendor'), { result: 'cannot_be_checked' })
  t.same(await reported('mute'), {
    status: 200,
    result: 'cannot_be_checked',
    message: 'The provider "mute" has no check of its credentials.'
  })
  t.same(await reported('broken'), {
    status: 200,
    result: 'cannot_be_checked',
    message: 'The provider "broken" failed unexpectedly, before anything was sent.'
  })
  lacks(t, service.log.join('\n'), new RegExp(secret))
  const stored = async (): Promise<unknown> =>
    (await service.send('GET', '/api/v1/my/config', {}, admin)).body.company.providers.find(({ code }: { code: string }) =>
      code === 'vendor'
    ).lastCheck
  vendor.on('GET /me', { json: { id: '7' } })
  await check('vendor', admin)
  has(t, await stored(), { result: 'ok', at: /^\d{4}-/ }, 'the last answer is kept')
  await configure('vendor', admin)
  t.equal(await stored(), undefined, 'other settings were never checked')
  const { body: { data } } = await service.send('GET', '/api/v1/audit?action=configuration.checked', {}, admin)
  t.same(data.map(({ object, facts }: { object: unknown, facts: unknown }) => ({ object, facts })).at(-1), {
    object: { kind: 'configuration', id: 'vendor' },
    facts: { result: 'ok' }
  })
  t.type(companyId, 'number')
})

await t.test('a check that would change something sends nothing', async (t) => {
  const { admin } = await service.company('writing')
  await configure('writer', admin)
  const before = vendor.requests.length
  has(t, await check('writer', admin), { status: 200, body: { result: 'cannot_be_checked' } })
  t.equal(vendor.requests.length, before)
})

await t.test('only an admin asks, about a configuration of the own company, and not without end', async (t) => {
  const { admin, member } = await service.company('asking')
  const { admin: other } = await service.company('other')
  await configure('vendor', admin)
  has(t, await check('vendor', member), { status: 403, body: { error: 'forbidden' } })
  has(t, await check('vendor', other), { status: 404, body: { error: 'not_found' } })
  has(t, await check('nobody', admin), { status: 404, body: { error: 'not_found' } })
  vendor.on('GET /me', { json: { id: '7' } })
  for (let time = 0; time < 11; time++) t.equal((await check('vendor', admin)).status, 200)
  has(t, await check('vendor', admin), { status: 429, body: { error: 'rate_limited' } })
})

await t.test('the vendor tells which values a setting may have, before the settings are saved and afterwards', async (t) => {
  const { admin } = await service.company('suggesting')
  const suggest = async (body: object, by = admin): Promise<Answer> => {
    const answer = await service.send('POST', '/api/v1/company/providers/ledger/suggestions', { body }, by)
    return { ...answer, body: answer.body.data?.[0] ?? answer.body }
  }
  const requested = (): number => vendor.requests.filter(({ path }) => path === '/accounts').length
  const accounts = [{ value: '706', title: `Sales ${secret}` }, { value: 'far too long a code' }, { value: '707' }]
  vendor.on('GET /accounts', { json: { accounts } })
  const unsaved = { settings: { token: secret } }
  const values = [{ value: '706', title: 'Sales [redacted]' }, { value: '707' }]
  has(t, await suggest({}), { status: 404, body: { error: 'not_found' } }, 'there is nothing to ask with')
  const before = requested()
  has(t, (await suggest(unsaved)).body, { setting: 'account', result: 'ok', values, at: /^\d{4}-/ })
  has(t, (await suggest(unsaved)).body, { result: 'ok', values })
  t.equal(requested(), before + 1, 'what it said is kept for a while')
  has(t, (await suggest({ settings: { token: `${secret}2` } })).body, { result: 'ok' })
  t.equal(requested(), before + 2, 'other credentials may see other accounts')
  has(t, await suggest({ settings: { tokn: secret } }), { status: 422, body: { error: 'validation_failed' } })
  const { admin: other } = await service.company('suggesting-too')
  has(t, (await suggest(unsaved, other)).body, { result: 'ok' })
  t.equal(requested(), before + 3, 'no company reads what another one has asked for')
  vendor.on('GET /accounts', { status: 401, json: { code: 'E1', message: `The key ${secret}3 is revoked.` } })
  has(t, (await suggest({ settings: { token: `${secret}3` } })).body, {
    result: 'failed',
    code: 'E1',
    message: 'The key [redacted] is revoked.'
  })
  vendor.on('GET /accounts', { json: { accounts: 'none' } })
  has(t, (await suggest({ settings: { token: `${secret}4` } })).body, { result: 'cannot_be_checked' })
  const saved = { settings: { token: secret, account: '706' } }
  has(t, await service.send('PUT', '/api/v1/company/providers/ledger', { body: saved }, admin), { status: 200 })
  vendor.on('GET /accounts', { json: { accounts: [] } })
  has(t, (await suggest({})).body, { result: 'ok', values: [] }, 'the settings are other ones, and the vendor is asked again')
  has(t, (await suggest({ settings: { account: '707' } })).body, { setting: 'account' }, 'a secret that is left out is the stored one')
  lacks(t, service.log.join('\n'), new RegExp(secret))
})

await t.test('a list of what a vendor has is asked for by a version of the API that knows it', async (t) => {
  const { admin } = await service.company('knowing')
  const reported = async (version: string): Promise<unknown> => {
    const { body } = await service.send('GET', '/api/v1/providers', { headers: { 'x-api-version': version } }, admin)
    return body.data.find(({ code }: { code: string }) => code === 'ledger').suggestions
  }
  t.same([await reported('1.1.0'), await reported('1.0.1')], [['account'], undefined])
  const { body } = await service.send('POST', '/api/v1/company/providers/vendor/suggestions', { body: { settings: { token: 'x' } } }, admin)
  t.same(body, { data: [] }, 'a provider that cannot be asked has none')
})

await t.test('the form of the console offers what the vendor has, and keeps what was typed', async (t) => {
  const { admin } = await service.company('form')
  const { signIn, open, post } = openConsole(service)
  const cookie = await signIn(admin)
  contains(t, (await open('/providers/ledger', cookie)).body, '/console/providers/ledger/suggest')
  lacks(t, (await open('/providers/vendor', cookie)).body, '/suggest"')
  vendor.on('GET /accounts', { json: { accounts: [{ value: '706', title: 'Sales' }, { value: '707' }] } })
  const { status, body } = await post('/providers/ledger/suggest', { token: secret, account: '70' }, cookie)
  t.equal(status, 200)
  contains(t, body, /value="70"[^>]* list="f-account-list"/)
  contains(t, body, '<option value="706">Sales</option><option value="707">707</option>')
  contains(t, body, /Account: the vendor has 2/)
  contains(t, body, /Type the secrets again/)
  lacks(t, body, secret)
  const { body: { company } } = await service.send('GET', '/api/v1/my/config', {}, admin)
  t.same(company.providers.filter(({ code }: { code: string }) => code === 'ledger'), [], 'nothing was saved')
  const refused = await post('/providers/ledger/suggest', {}, cookie)
  t.equal(refused.status, 422)
  contains(t, refused.body, /id="f-token-wrong"/)
})
