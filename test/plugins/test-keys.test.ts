import { keyScopes } from '@dispatch/contract'
import { refused } from '@dispatch/core/provider'
import t, { type Test } from 'tap'
import { until } from '../core/work/support.ts'
import { chainBody } from '../support/chains.ts'
import { has, lacks } from '../support/matching.ts'
import { quickRenderer } from '../support/quick-renderer.ts'
import { type Answer, invoiceRequest, type Login, startService, type TestService } from '../support/service.ts'
import { type Handler, testProviders } from './support/providers.ts'

const providers = await testProviders(t)
/** What the providers were called with, in order. */
const calls: { code: string, sandbox: boolean, requestSettings: unknown }[] = []
let refuse = false
const noting = (code: string): Handler => (_request, { sandbox, requestSettings, reference }) => {
  calls.push({ code, sandbox, requestSettings })
  if (refuse) throw refused('E1', 'Not today.')
  return Promise.resolve({ id: `${code}-${reference}`, status: 'created' })
}
const optional = '{ key: Type.Optional(Type.String()), secret: Type.Optional(Secret()) }'
const sandboxes = {
  flagged: 'sandbox: { kind: \'flag\' },',
  needy: 'sandbox: { kind: \'flag\', needs: [\'key\', \'secret\'] },',
  apart: 'sandbox: { kind: \'configuration\' },',
  real: ''
}
for (const [code, more] of Object.entries(sandboxes)) {
  await providers.add(code, { more, settings: optional, requestSettings: '{ label: Type.Optional(Type.String()) }' }, noting(code))
}
await providers.add('texts', { of: 'sms', more: sandboxes.flagged, service: 'idempotency: { kind: \'none\' }' }, noting('texts'))
await providers.add('archive', { of: 'upload', service: 'idempotency: { kind: \'none\' }' }, noting('archive'))

const config = { providerDirectories: providers.directories, prices: { invoicing: 1, sms: 2, upload: 3, file: 4 } }
const service = await startService(t, { config, replacements: { renderer: quickRenderer } })
t.beforeEach(() => {
  ;[calls.length, refuse] = [0, false]
})

/** As many as these keys can have. */
const scopes = {
  live: keyScopes.filter((scope) => scope !== 'platform' && scope !== 'propose'),
  test: ['send', 'read_own', 'read_all', 'configuration']
}
type Keys = { live: string, test: string }
type Company = Awaited<ReturnType<TestService['company']>> & Keys

async function founded (service: TestService, name: string, credits = 100): Promise<Company> {
  const company = await service.company(name, { credits })
  const make = async (mode: 'live' | 'test'): Promise<string> =>
    (await service.send('POST', '/api/v1/keys', { body: { name: mode, mode, scopes: scopes[mode] } }, company.admin)).body.key as string
  return { ...company, live: await make('live'), test: await make('test') }
}
const company = await founded(service, 'acme')
const configure = (code: string, body: object = { settings: {} }, login: Login = company.admin): Promise<Answer> =>
  service.send('PUT', `/api/v1/company/providers/${code}`, { body }, login)
for (const code of [...Object.keys(sandboxes), 'texts', 'archive']) await configure(code)

const as = (key: string, method: string, path: string, body?: unknown, headers: Record<string, string> = {}): Promise<Answer> =>
  service.send(method, path, { headers: { authorization: `Bearer ${key}`, ...headers }, ...body === undefined ? {} : { body } }, null)
const invoice = (key: string, providerName: string, more: object = {}): Promise<Answer> =>
  as(key, 'POST', '/api/invoicing', invoiceRequest({}, { providerName, ...more }))
const read = async (dispatchId: unknown): Promise<any> => (await as(company.live, 'GET', `/api/v1/dispatches/${String(dispatchId)}`)).body
const balance = async (key = company.live): Promise<number> => (await as(key, 'GET', '/api/v1/credits')).body.balance

await t.test('a test key sends to the sandbox of a provider that has one, free of charge, and says so; a live key does not', async (t) => {
  const before = await balance()
  const { status, body } = await invoice(company.test, 'flagged')
  t.equal(status, 200)
  has(t, body, { test: true, providerName: 'flagged' })
  has(t, await read(body.dispatchId), { test: true, creditsCharged: 0, steps: [{ providerName: 'flagged', sandbox: true }] })
  t.equal(await balance(), before)

  const real = await invoice(company.live, 'flagged')
  t.notOk('test' in real.body)
  has(t, await read(real.body.dispatchId), { creditsCharged: 1, steps: [{ sandbox: false }] })
  t.notOk('test' in await read(real.body.dispatchId))
  has(t, calls.map(({ code, sandbox }) => [code, sandbox]), [['flagged', true], ['flagged', false]])
})

await t.test('what has no sandbox goes to the simulator, with nothing of what was meant for it', async (t) => {
  for (const code of ['real', 'apart', 'needy']) {
    const { body } = await invoice(company.test, code, { settings: { label: 'secret label' } })
    has(t, body, { test: true, providerName: 'simulator' }, code)
    has(t, (await read(body.dispatchId)).steps, [{ providerName: 'simulator', sandbox: true, chosenBy: 'request' }])
    const { data: [sent] } = (await service.send('GET', '/api/v1/simulator/outbox', {}, company.admin)).body
    has(t, sent, { sandbox: true, requestSettings: {} })
  }
  t.same(calls, [], 'none of them was called')
})

await t.test('a configuration that is a sandbox is one; one that lacks what its sandbox needs is none', async (t) => {
  await configure('apart', { settings: {}, sandbox: true })
  has(t, await configure('real', { settings: {}, sandbox: true }), {
    status: 422,
    body: { details: [{ path: '/sandbox', code: 'no_sandbox' }] }
  })
  await configure('needy', { settings: { key: 'k', secret: 's' } })
  for (const code of ['apart', 'real', 'needy']) await invoice(company.test, code)
  t.same(calls, [{ code: 'apart', sandbox: true, requestSettings: {} }, { code: 'needy', sandbox: true, requestSettings: {} }])
  await configure('apart', { settings: {}, sandbox: false })
})

await t.test('a test is checked as the real thing: settings, capabilities, the configuration', async (t) => {
  has(t, await invoice(company.test, 'real', { settings: { lable: 'x' } }), {
    status: 422,
    body: { details: [{ path: '/settings/lable', message: /label/ }] }
  })
  has(t, await invoice(company.test, 'real', { documentType: 'QUOTE' }), { status: 422, body: { error: 'validation_failed' } })
  has(t, await invoice(company.test, 'stripe'), { status: 422, body: { error: 'configuration_missing' } })
  const validation = await as(company.test, 'POST', '/api/invoicing/validate', invoiceRequest({}, { providerName: 'real' }))
  has(t, validation.body.plan, [{ providerName: 'simulator', credits: 0 }])
})

await t.test('every step of a chain is a test, queued or not, and costs nothing', async (t) => {
  const path = ['invoicing', 'sms', 'upload'] as const
  const body = () =>
    chainBody(path, invoiceRequest()['template'], {
      providerName: 'flagged',
      sms: { phoneNumber: '+33612345678', message: 'Hello', providerName: 'texts' },
      upload: { providerName: 'archive' }
    })
  const before = await balance()
  const { body: done } = await as(company.test, 'POST', `/api/${path.join('/')}`, body())
  const { body: queued } = await as(company.test, 'POST', `/api/${path.join('/')}?async=true`, body())
  has(t, [done, queued], [{ test: true }, { test: true, status: 'queued' }])
  await until('it is done', async () => (await read(queued.dispatchId)).status === 'succeeded')
  for (const { dispatchId } of [done, queued]) {
    has(t, await read(dispatchId), {
      test: true,
      creditsCharged: 0,
      steps: [
        { providerName: 'flagged', sandbox: true },
        { providerName: 'texts', sandbox: true },
        { providerName: 'simulator', sandbox: true }
      ]
    })
  }
  t.ok(calls.length === 4 && calls.every(({ sandbox }) => sandbox))
  t.equal(await balance(), before)
  has(t, (await as(company.test, 'POST', '/api/file', { template: invoiceRequest()['template'] })).body, { test: true },
    'what needs no provider too')
  t.equal(await balance(), before)
})

await t.test('what is deferred is a test when its event comes', async (t) => {
  const before = await balance()
  await service.send('PUT', '/api/v1/company/defaults/esign', { body: { providerName: 'simulator' } }, company.admin)
  const { body } = await as(company.test, 'POST', '/api/esign', chainBody(['esign'], invoiceRequest()['template'], {
    providerName: 'simulator',
    deferred: [
      { on: 'esign.completed', service: 'upload', providerName: 'archive' },
      { on: 'esign.completed', service: 'sms', providerName: 'texts', phoneNumber: '+33612345678', message: 'Signed.' }
    ]
  }))
  await service.send('POST', '/api/v1/simulator/events', { body: { dispatchId: body.dispatchId, status: 'completed' } }, company.admin)
  await until('it is done', async () => (await read(body.dispatchId)).steps.every((step: any) => step.status === 'accepted'))
  has(t, (await read(body.dispatchId)).steps, [
    { sandbox: true },
    { providerName: 'simulator', sandbox: true },
    { providerName: 'texts', sandbox: true }
  ])
  has(t, calls, [{ code: 'texts', sandbox: true }])
  t.equal(await balance(), before)
})

await t.test('a test stays one, whoever lets it go on; what is real does not go on by a test key', async (t) => {
  const before = await balance()
  refuse = true
  const failed = (await invoice(company.test, 'flagged')).body
  const real = (await invoice(company.live, 'flagged')).body
  refuse = false
  const retry = (key: string, dispatchId: unknown): Promise<Answer> => as(key, 'POST', `/api/v1/dispatches/${String(dispatchId)}/retry`)
  has(t, await retry(company.test, real.dispatchId), { status: 404, body: { error: 'not_found' } })
  has(t, await retry(company.live, failed.dispatchId), { status: 200, body: { test: true } })
  t.same(calls.map(({ sandbox }) => sandbox), [true, false, true])
  has(t, await read(failed.dispatchId), { creditsCharged: 0, test: true })
  t.equal(await balance(), before)
})

await t.test('an uncertain test that turns out accepted costs nothing', async (t) => {
  const before = await balance()
  const { body } = await invoice(company.test, 'real', { invoicing: { reference: 'uncertain' } })
  t.equal(body.error, 'outcome_unknown')
  const resolved = await as(company.live, 'POST', `/api/v1/dispatches/${String(body.dispatchId)}/resolve`, {
    outcome: 'accepted',
    reason: 'Seen.'
  })
  has(t, resolved.body, { status: 'succeeded', creditsCharged: 0, test: true })
  t.equal(await balance(), before)
})

await t.test('a test key sees tests alone: in lists, one by one, with their events, documents and callbacks', async (t) => {
  const company = await founded(service, 'seeing')
  await configure('flagged', { settings: {} }, company.admin)
  const callbackUrl = 'https://hooks.example.com/'
  const send = async (key: string): Promise<any> =>
    (await as(key, 'POST', '/api/invoicing', invoiceRequest({}, { providerName: 'flagged', callbackUrl, metadata: { order: 'A-1' } }))).body
  const [test, real, another] = [await send(company.test), await send(company.live), await send(company.test)]
  const sees = async (key: string, path: string): Promise<number> => (await as(key, 'GET', path)).status
  for (const [key, dispatch, status] of [
    [company.test, test, 200],
    [company.test, real, 404],
    [company.live, test, 200],
    [
      company.live,
      real,
      200
    ]
  ] as const) {
    const path = `/api/v1/dispatches/${String(dispatch.dispatchId)}`
    for (const one of [path, `${path}/events`, `${path}/callbacks`, `/api/v1/documents/${String(dispatch.generatedDocument.id)}`]) {
      t.equal(await sees(key, one), status, one)
    }
  }
  const listed = async (query: string): Promise<string[]> =>
    (await as(company.test, 'GET', `/api/v1/dispatches${query}`)).body.data.map(({ dispatchId }: any) => dispatchId as string)
  t.same(await listed(''), [another.dispatchId, test.dispatchId])
  t.same(await listed('?metadata[order]=A-1&limit=1'), [another.dispatchId])
  t.same(await listed(`?limit=2&cursor=${String(another.dispatchId)}`), [test.dispatchId], 'what is between the pages is not there either')
  t.same((await as(company.live, 'GET', '/api/v1/dispatches')).body.data.length, 3)
  t.same((await as(company.live, 'GET', '/api/v1/credits')).body.ledger.map(({ kind }: any) => kind), ['debit', 'grant'])
  t.same((await as(company.test, 'GET', '/api/v1/credits')).body.ledger.map(({ kind }: any) => kind), ['grant'])
  const { body: { data: [callback] } } = await as(company.live, 'GET', `/api/v1/dispatches/${String(real.dispatchId)}/callbacks`)
  t.equal(await sees(company.test, '/api/v1/simulator/outbox'), 403, 'where the real ones stand too')
  t.equal(await sees(company.live, '/api/v1/simulator/outbox'), 200)
  if (callback !== undefined) t.equal((await as(company.test, 'POST', `/api/v1/callbacks/${String(callback.id)}/replay`)).status, 403)
})

await t.test('an idempotency key of a test is no proof that the real thing was sent', async (t) => {
  const body = invoiceRequest({}, { providerName: 'flagged' })
  for (const [first, second] of [[company.test, company.live], [company.live, company.test]] as const) {
    const headers = { 'x-idempotency-key': `order ${first}` }
    t.equal((await as(first, 'POST', '/api/invoicing', body, headers)).status, 200)
    has(t, await as(second, 'POST', '/api/invoicing', body, headers), { status: 422, body: { error: 'idempotency_key_reused' } })
    t.equal((await as(first, 'POST', '/api/invoicing', body, headers)).headers.get('idempotency-replayed'), 'true')
  }
})

await t.test('a company without credits can test', async (t) => {
  const poor = await founded(service, 'poor', 0)
  await configure('flagged', { settings: {} }, poor.admin)
  t.equal((await invoice(poor.test, 'flagged')).status, 200)
  t.equal((await invoice(poor.live, 'flagged')).status, 402)
})

await t.test('a test key of an admin changes nothing that is real', async (t) => {
  const { body: queued } = await as(company.live, 'POST', '/api/invoicing?async=true', invoiceRequest({}, { providerName: 'flagged' }))
  const attempts: [string, string, unknown?][] = [
    ['PUT', '/api/v1/my/config/invoicing', { providerName: 'real' }],
    ['PUT', '/api/v1/my/providers/real', { settings: {} }],
    ['DELETE', '/api/v1/my/providers/real'],
    ['PUT', '/api/v1/company/defaults/invoicing', { providerName: 'real' }],
    ['PUT', '/api/v1/company/providers/real', { settings: {} }],
    ['DELETE', '/api/v1/company/providers/real'],
    ['POST', '/api/v1/company/callback-secret'],
    ['POST', `/api/v1/dispatches/${String(queued.dispatchId)}/cancel`],
    ['POST', `/api/v1/dispatches/${String(queued.dispatchId)}/resolve`, { outcome: 'rejected', reason: 'x' }],
    ['POST', '/api/v1/keys', { name: 'x', mode: 'live' }],
    ['POST', '/auth/impersonate', { userId: 1 }],
    ['POST', '/api/v1/providers/reload']
  ]
  for (const [method, path, body] of attempts) t.equal((await as(company.test, method, path, body)).status, 403, `${method} ${path}`)
  t.equal((await as(company.test, 'GET', '/api/v1/company/callback-secret')).status, 403, 'it is a member')
  for (const path of ['/healthz', '/api/v1/credits', '/api/v1/templates', '/api/v1/my/config']) {
    t.equal((await as(company.test, 'GET', path)).status, 200, path)
  }
})

await t.test('in production the simulator is there for test keys alone', async (t: Test) => {
  const production = await startService(t, { config: { ...config, environment: 'production' }, replacements: { renderer: quickRenderer } })
  const shop = await founded(production, 'shop')
  await production.send('PUT', '/api/v1/company/providers/real', { body: { settings: {} } }, shop.admin)
  const send = (key: string, body: unknown): Promise<Answer> =>
    production.send('POST', '/api/invoicing', { headers: { authorization: `Bearer ${key}` }, body }, null)
  has(t, await send(shop.test, invoiceRequest({}, { providerName: 'real' })), {
    status: 200,
    body: { test: true, providerName: 'simulator' }
  })
  has(t, await send(shop.live, invoiceRequest({}, { providerName: 'simulator' })), {
    status: 422,
    body: { error: 'configuration_missing', message: /no provider "simulator" installed/ }
  })
  has(t, await send(shop.live, invoiceRequest()), { status: 422, body: { error: 'configuration_missing' } },
    'not by a default that was there before either')
  t.equal((await production.send('PUT', '/api/v1/company/providers/simulator', { body: { settings: {} } }, shop.admin)).status, 404)
  t.equal((await production.send('PUT', '/api/v1/company/defaults/invoicing', { body: { providerName: 'simulator' } }, shop.admin)).status,
    422)
  t.notOk((await production.send('GET', '/api/v1/providers', {}, shop.admin)).body.data.some((one: any) => one.code === 'simulator'))
  lacks(t, (await production.send('GET', '/docs/providers', {}, null)).body, /simulator/i)
})

await t.test('?sandbox=true lets the vendor do it in its test environment, with any key, and is refused where there is none', async (t) => {
  const before = await balance()
  const there = (providerName: string, key = company.live, path = '/api/invoicing'): Promise<Answer> =>
    as(key, 'POST', `${path}?sandbox=true`, invoiceRequest({}, { providerName }))
  const { status, body } = await there('flagged')
  has(t, { status, body }, { status: 200, body: { test: true, sandbox: true, providerName: 'flagged' } })
  has(t, calls, [{ code: 'flagged', sandbox: true }])
  has(t, await read(body.dispatchId), { test: true, creditsCharged: 0, steps: [{ sandbox: true, creditsCharged: 0 }] })
  t.equal(await balance(), before)
  for (const code of ['real', 'apart']) {
    for (const key of [company.live, company.test]) {
      const refusal = { status: 422, body: { error: 'validation_failed', details: [{ path: '/providerName', code: 'no_sandbox' }] } }
      has(t, await there(code, key), refusal, code)
      has(t, await there(code, key, '/api/invoicing/validate'), refusal, code)
    }
  }
  has(t, (await there('flagged', company.live, '/api/invoicing/validate')).body, { plan: [{ sandbox: true, credits: 0 }] })
  t.equal(calls.length, 1)
  has(t, await as(company.live, 'POST', '/api/invoicing?sandbox=maybe', invoiceRequest()), {
    status: 400,
    body: { error: 'validation_error' }
  })
})

await t.test('a key of idempotency tells a request for test environments from a real one', async (t) => {
  const body = invoiceRequest({}, { providerName: 'flagged' })
  const headers = { 'x-idempotency-key': 'once' }
  t.equal((await as(company.live, 'POST', '/api/invoicing?sandbox=true', body, headers)).status, 200)
  has(t, await as(company.live, 'POST', '/api/invoicing', body, headers), { status: 422, body: { error: 'idempotency_key_reused' } })
  t.equal((await as(company.live, 'POST', '/api/invoicing?sandbox=true', body, headers)).status, 200)
  t.equal(calls.length, 1)
})

await t.test('of a list, those that reach a test environment remain', async (t) => {
  const providers = ['real', 'flagged', 'needy'].map((providerName) => ({ providerName }))
  const path = '/api/v1/company/defaults/invoicing'
  t.equal((await service.send('PUT', path, { body: { providers } }, company.admin)).status, 200)
  has(t, (await as(company.live, 'POST', '/api/invoicing?sandbox=true', invoiceRequest())).body, { providerName: 'flagged', sandbox: true })
  has(t, (await as(company.test, 'POST', '/api/invoicing', invoiceRequest())).body, { providerName: 'simulator', sandbox: true })
  has(t, (await as(company.live, 'POST', '/api/invoicing', invoiceRequest())).body, { providerName: 'real' })
  await service.send('PUT', path, { body: { providerName: 'simulator' } }, company.admin)
})
