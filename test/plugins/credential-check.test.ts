import t from 'tap'
import { has, lacks } from '../support/matching.ts'
import { quickRenderer } from '../support/quick-renderer.ts'
import { type Answer, type Login, startService } from '../support/service.ts'
import { vendorOf } from '../support/vendor.ts'
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
  const told = async (code: string): Promise<unknown> => {
    const { status, body } = await check(code, admin)
    return { status, ...body }
  }
  vendor.on('GET /me', { json: { id: '7' } })
  t.same(await told('vendor'), { status: 200, result: 'ok' })
  t.equal(vendor.requests.at(-1)?.headers['authorization'], `Bearer ${secret}`)
  vendor.on('GET /me', { status: 401, json: { code: 'E1', message: `The key ${secret} is revoked.` } })
  t.same(await told('vendor'), { status: 200, result: 'failed', code: 'E1', message: 'The key [redacted] is revoked.' })
  vendor.on('GET /me', { status: 503 })
  t.same(await told('vendor'), { status: 200, result: 'cannot_be_checked', message: '"api.vendor.example" answered 503.' })
  vendor.on('GET /me', { status: 403, text: '<html>Access denied by the gateway</html>' })
  has(t, await told('vendor'), { result: 'cannot_be_checked', message: /a proxy or firewall/ })
  vendor.on('GET /me', { cut: 'after-body' })
  has(t, await told('vendor'), { result: 'cannot_be_checked' })
  vendor.on('GET /me', { text: '<html>' })
  has(t, await told('vendor'), { result: 'cannot_be_checked' })
  t.same(await told('mute'), {
    status: 200,
    result: 'cannot_be_checked',
    message: 'The provider "mute" has no check of its credentials.'
  })
  t.same(await told('broken'), {
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
