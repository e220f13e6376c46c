import { unavailable } from '@dispatch/core/provider'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { provide } from '../fixtures/providers/folders.ts'
import { createGate } from '../support/gate.ts'
import { has, lacks } from '../support/matching.ts'
import { quickRenderer } from '../support/quick-renderer.ts'
import { type Answer, invoiceRequest, type Login, operator, startService } from '../support/service.ts'
import { type Handler, testProviders } from './support/providers.ts'

const providers = await testProviders(t)
const [, folder = ''] = providers.directories
await provide(folder, 'broken', { 'index.js': 'throw new Error("on load")' })
const service = await startService(t, { config: { providerDirectories: providers.directories }, replacements: { renderer: quickRenderer } })

const reload = (): Promise<Answer> => service.send('POST', '/api/v1/providers/reload', {}, operator)
const find = async (name: string, login?: Login): Promise<any> => {
  const { body } = await service.send('GET', '/api/v1/providers', {}, login)
  return body.data.find((entry: { folder: string }) => entry.folder === name)
}
const dispatch = (providerName: string): Promise<Answer> =>
  service.send('POST', '/api/invoicing', { body: invoiceRequest({}, { providerName }) })
const configure = (code: string): Promise<Answer> => service.send('PUT', `/api/v1/company/providers/${code}`, { body: { settings: {} } })
const answering = (status: string): Handler => () => Promise.resolve({ id: '1', status })

await t.test('the list shows what a provider can do, its forms and its health', async (t) => {
  const { status, body } = await service.send('GET', '/api/v1/providers')
  t.equal(status, 200)
  t.equal(body.nextCursor, null)
  has(t, body.data.find(({ code }: { code: string }) => code === 'simulator'), {
    state: 'installed',
    folder: 'simulator',
    code: 'simulator',
    name: 'Simulator',
    version: /^\d+\.\d+\.\d+$/,
    services: {
      invoicing: {
        capabilities: { documentTypes: ['INVOICE', 'E_INVOICE', 'QUOTE', 'CREDIT'], sendByEmail: true, requires: ['/number'] },
        idempotency: { kind: 'lookup', visibleAfter: 0 },
        verbs: ['dispatch', 'lookup', 'status', 'say']
      }
    },
    settings: { type: 'object', properties: { slowSeconds: { type: 'number', title: String } }, additionalProperties: false },
    requestSettings: { type: 'object', properties: { includePaymentCollectionLink: { type: 'boolean' } }, additionalProperties: false },
    health: { state: 'ok' }
  })
  t.equal((await find('lob')).docs, 'https://docs.lob.com/#tag/Letters')
})

await t.test('schemas=false leaves out the schemas of settings, and nothing else', async (t) => {
  const { status, body } = await service.send('GET', '/api/v1/providers?schemas=false')
  const whole = (await service.send('GET', '/api/v1/providers?schemas=true')).body
  t.equal(status, 200)
  t.strictSame(body.data, whole.data.map(({ settings: _settings, requestSettings: _requestSettings, ...rest }: any) => rest))
  t.strictSame((await service.send('GET', '/api/v1/providers')).body, whole)
  t.equal((await service.send('GET', '/api/v1/providers?schemas=no')).status, 400)
})

await t.test('a folder that was refused is listed, and harms no other: operators are told why', async (t) => {
  const entry = { state: 'refused', folder: 'broken' }
  t.strictSame(await find('broken'), {
    ...entry,
    health: { state: 'refused', reason: 'It could not be loaded; the operator of the service can see why.' }
  })
  t.strictSame(await find('broken', operator), {
    ...entry,
    health: { state: 'refused', reason: 'It throws an error when it is loaded: on load', place: 'index.js:1' }
  })
  t.equal((await find('simulator')).health.state, 'ok')
  t.ok(service.log.some((line) => line.includes('provider refused') && line.includes('on load')))
})

await t.test('the list shows tenants no path of the server, nor of what a folder throws', async (t) => {
  const { body } = await service.send('GET', '/api/v1/providers')
  lacks(t, JSON.stringify(body), folder)
  lacks(t, JSON.stringify(body), 'on load')
})

await t.test('another publisher gets a code, and its secrets, by the word of an operator alone', async (t) => {
  await providers.add('pinned-code', {}, answering('first'))
  await reload()
  await configure('pinned-code')
  await provide(folder, 'pinned-code', { 'package.json': { author: 'Mallory', version: '2.0.0' } })
  await reload()
  const versions = async (): Promise<unknown> =>
    (await service.send('GET', '/api/v1/providers', {}, operator)).body.data.flatMap(
      (entry: { code?: string, state: string, version?: string }) => entry.code === 'pinned-code' ? [[entry.state, entry.version]] : []
    )
  t.strictSame(await versions(), [['installed', '1.0.0'], ['refused', undefined]])
  has(t, await dispatch('pinned-code'), { body: { providerResponse: { status: 'first' } } })

  const path = '/api/v1/providers/pinned-code/publisher'
  const body = { packageName: 'pinned-code', author: 'Mallory' }
  has(t, await service.send('PUT', path, { body }), { status: 403 })
  has(t, await service.send('PUT', '/api/v1/providers/nobody/publisher', { body }, operator), { status: 404, body: { error: 'not_found' } })
  has(t, await service.send('PUT', path, { body }, operator), { status: 200, body: { processes: [{ converged: true }] } })
  t.strictSame(await versions(), [['installed', '2.0.0']])
})

await t.test('only an operator reloads', async (t) => {
  const { admin, member } = await service.company('reloading')
  for (const login of [admin, member, undefined]) {
    has(t, await service.send('POST', '/api/v1/providers/reload', {}, login), { status: 403, body: { error: 'forbidden' } })
  }
  t.equal((await service.send('POST', '/api/v1/providers/reload', {}, null)).status, 401)
  t.equal((await reload()).status, 200)
})

await t.test('a new folder dispatches after a reload, without a restart', async (t) => {
  await providers.add('fresh', {}, answering('fresh'))
  has(t, await dispatch('fresh'), { status: 422, body: { error: 'configuration_missing' } })
  has(t, (await reload()).body.data.find(({ code }: { code: string }) => code === 'fresh'), { state: 'installed' })
  t.equal((await configure('fresh')).status, 200)
  has(t, await dispatch('fresh'), { status: 200, body: { providerName: 'fresh', providerResponse: { id: '1', status: 'fresh' } } })
})

await t.test('a request in flight finishes on the version it began with; the next one has the new one', async (t) => {
  const gate = createGate()
  await providers.add('turning', { version: '1.0.0' }, async (request, call) => {
    await gate.pass()
    return answering('old')(request, call)
  })
  await reload()
  await configure('turning')
  const before = dispatch('turning')
  await gate.reached

  await providers.add('turning', { version: '2.0.0', settings: '{ region: Type.Optional(Type.String()) }' }, answering('new'))
  await reload()
  const after = await dispatch('turning')
  gate.open()
  const old = await before
  t.equal(old.body.providerResponse.status, 'old')
  t.equal(after.body.providerResponse.status, 'new')
  const versionOf = async ({ body }: Answer): Promise<string> =>
    (await service.send('GET', `/api/v1/dispatches/${body.dispatchId}`)).body.steps[0].providerVersion
  t.strictSame([await versionOf(old), await versionOf(after)], ['1.0.0', '2.0.0'])
})

await t.test('a plan pins the version of its provider: a reload before the call changes nothing for it', async (t) => {
  const gate = createGate()
  const slow = await startService(t, {
    config: { providerDirectories: providers.directories },
    replacements: { renderer: { ...quickRenderer, render: (job) => gate.pass().then(() => quickRenderer.render(job)) } }
  })
  await providers.add('pinned', { version: '1.0.0' }, answering('old'))
  await slow.send('POST', '/api/v1/providers/reload', {}, operator)
  await slow.send('PUT', '/api/v1/company/providers/pinned', { body: { settings: {} } })
  const sent = slow.send('POST', '/api/invoicing', { body: invoiceRequest({}, { providerName: 'pinned' }) })
  await gate.reached
  await providers.add('pinned', { version: '2.0.0' }, answering('new'))
  await slow.send('POST', '/api/v1/providers/reload', {}, operator)
  gate.open()
  has(t, (await sent).body, { providerResponse: { status: 'old' } })
})

await t.test('settings that the new version does not take any more are invalid until they are corrected', async (t) => {
  await providers.add('stricter', {}, answering('ok'))
  await reload()
  await configure('stricter')
  t.equal((await dispatch('stricter')).status, 200)

  await providers.add('stricter', { version: '2.0.0', settings: '{ region: Type.String() }' }, answering('ok'))
  await reload()
  const { status, body } = await dispatch('stricter')
  has(t, { status, body }, {
    status: 422,
    body: { error: 'configuration_missing', message: /PUT \/api\/v1\/company\/providers\/stricter/ }
  })
  const config = await service.send('GET', '/api/v1/my/config')
  has(t, config.body.company.providers.find(({ code }: { code: string }) => code === 'stricter'), {
    valid: false,
    problems: [{ path: '/settings/region', code: 'required' }]
  })
  t.notOk(config.body.services.invoicing.available.includes('stricter'))

  has(t, await service.send('PUT', '/api/v1/company/providers/stricter', { body: { settings: { region: 'eu' } } }), {
    status: 200,
    body: { valid: true }
  })
  t.equal((await dispatch('stricter')).status, 200)
})

await t.test('a removed folder is found no more, and its configuration says so', async (t) => {
  await providers.add('leaving', {}, answering('ok'))
  await reload()
  await configure('leaving')
  await rm(join(folder, 'leaving'), { recursive: true })
  await reload()
  t.equal(await find('leaving'), undefined)
  has(t, await dispatch('leaving'), { status: 422, body: { error: 'configuration_missing', message: /no provider "leaving" installed/ } })
  const { body } = await service.send('GET', '/api/v1/my/config')
  has(t, body.company.providers.find(({ code }: { code: string }) => code === 'leaving'), {
    valid: false,
    settings: {},
    problems: [{ code: 'not_installed' }]
  })
  t.equal((await service.send('DELETE', '/api/v1/company/providers/leaving')).status, 204)
})

await t.test('a dispatch whose provider is gone cannot be resumed: its repeat answers as before', async (t) => {
  await providers.add('gone', {}, () => Promise.reject(unavailable('Closed.')))
  await reload()
  await configure('gone')
  const body = invoiceRequest({}, { providerName: 'gone' })
  const send = (): Promise<Answer> => service.send('POST', '/api/invoicing', { body, headers: { 'x-idempotency-key': 'gone' } })
  const first = await send()
  has(t, first, { status: 503, body: { error: 'provider_unavailable', message: 'Closed.' } })
  await rm(join(folder, 'gone'), { recursive: true })
  await reload()
  has(t, await send(), { status: 503, body: { error: 'provider_unavailable', dispatchId: first.body.dispatchId } })
  t.equal((await service.send('GET', '/api/v1/credits')).body.held, 0)
})
