import fastify from 'fastify'
import plugin from 'fastify-plugin'
import t from 'tap'
import { appPlugin } from '../../plugins/app.ts'
import { has, lacks } from '../support/matching.ts'
import { type Document, resolved } from '../support/openapi.ts'
import { quickRenderer } from '../support/quick-renderer.ts'
import { type Answer, invoiceRequest, startService } from '../support/service.ts'
import { accepts, testProviders } from './support/providers.ts'

const providers = await testProviders(t)
await providers.add('recent', {
  more: 'since: \'1.0.1\',',
  settings: '{ old: Type.Optional(Type.String()), later: Type.Optional(Type.String({ \'x-since\': \'1.0.1\' })) }'
}, accepts)
const service = await startService(t, { config: { providerDirectories: providers.directories }, replacements: { renderer: quickRenderer } })
await service.send('PUT', '/api/v1/company/providers/recent', { body: { settings: { later: 'x' } } })

const inVersion = (version: string) => ({ headers: { 'x-api-version': version } })
const dispatch = (version: string, more: object, path = '/api/invoicing'): Promise<Answer> =>
  service.send('POST', path, { body: invoiceRequest({}, { ...more }), ...inVersion(version) })
const collecting = { includePaymentCollectionLink: true, paymentCollectionBeneficiaryName: 'Ada', paymentCollectionLabel: 'Invoice' }

await t.test('settings that collect payments came with 1.0.1: 1.0.0 refuses each of them and says so', async (t) => {
  for (const path of ['/api/invoicing', '/api/invoicing/validate']) {
    const answer = await dispatch('1.0.0', { settings: collecting }, path)
    has(t, answer, {
      status: 422,
      body: {
        error: 'validation_failed',
        details: Object.keys(collecting).map((name) => ({
          path: `/settings/${name}`,
          code: 'later_version',
          message: /1\.0\.1.*X-API-Version/
        }))
      }
    })
    t.equal(answer.headers.get('x-api-version'), '1.0.0')
  }
  t.equal((await dispatch('1.0.0', {})).status, 200)
  has(t, (await dispatch('1.0.1', { settings: collecting })).body.providerResponse, { paymentUrl: /^https/ })
  has(t, (await service.send('POST', '/api/invoicing', { body: invoiceRequest({}, { settings: collecting }) })).body.providerResponse, {
    paymentUrl: /^https/
  }, 'which is the version of who names none')
})

await t.test('1.0.0 is shown neither the settings nor the providers that came later', async (t) => {
  const shown = async (version: string, code: string): Promise<any> =>
    (await service.send('GET', '/api/v1/providers', inVersion(version))).body.data.find((one: any) => one.code === code)
  for (const code of ['simulator', 'stripe']) {
    t.same(Object.keys((await shown('1.0.0', code)).requestSettings.properties), [], code)
    t.same(Object.keys((await shown('1.0.1', code)).requestSettings.properties).sort(), Object.keys(collecting).sort(), code)
  }
  t.same(Object.keys((await shown('1.0.1', 'recent')).settings.properties), ['old', 'later'])
  t.equal(await shown('1.0.0', 'recent'), undefined)
})

await t.test('1.0.0 cannot name a provider that came later, nor give a setting; what the company has chosen holds', async (t) => {
  has(t, await dispatch('1.0.0', { providerName: 'recent' }), {
    status: 422,
    body: { error: 'configuration_missing', message: /has the provider "recent" from version 1\.0\.1 on/ }
  })
  t.equal((await dispatch('1.0.1', { providerName: 'recent' })).status, 200)
  const put = (settings: object): Promise<Answer> =>
    service.send('PUT', '/api/v1/company/providers/recent', { body: { settings }, ...inVersion('1.0.0') })
  has(t, await put({ later: 'x' }), { status: 422, body: { details: [{ path: '/settings/later', code: 'later_version' }] } })
  t.equal((await put({ old: 'x' })).status, 200)
  await service.send('PUT', '/api/v1/company/defaults/invoicing', { body: { providerName: 'recent' } })
  has(t, (await dispatch('1.0.0', {})).body, { providerName: 'recent' })
})

await t.test('a route on its way out says so in every answer, and in the document', async (t) => {
  const server = fastify({ exposeHeadRoutes: false })
  const deprecated = { since: '2026-03-14', sunset: '2026-09-10', instead: 'GET /api/v2/things' }
  // Not in a scope of its own: what it does to its routes, it does to these.
  await server.register(plugin(appPlugin), service.app)
  await server.register((scope, _options, done) => {
    scope.get('/api/v1/things', {
      config: { errors: ['not_found'], deprecated },
      schema: { description: 'Lists things.', response: { 200: { type: 'object', properties: {} } } }
    }, () => ({}))
    scope.get('/api/v1/others', { config: { public: true } }, () => ({}))
    done()
  })
  t.teardown(() => server.close())
  const warning = 'Deprecated since 2026-03-14, removed on 2026-09-10: use GET /api/v2/things.'
  const authorization = `Basic ${Buffer.from('demo@example.com:demo-password').toString('base64')}`
  has(t, await server.inject({ url: '/api/v1/things', headers: { authorization } }), {
    statusCode: 200,
    headers: { 'x-deprecation-warning': warning }
  })
  has(t, await server.inject({ url: '/api/v1/things' }), { statusCode: 401, headers: { 'x-deprecation-warning': warning } })
  t.notOk('x-deprecation-warning' in (await server.inject({ url: '/api/v1/others' })).headers)
  const document = (await server.inject({ url: '/openapi.json' })).json<Document>()
  const { paths } = document
  has(t, paths['/api/v1/things'].get, {
    deprecated: true,
    description: `Lists things.\n\n${warning}\n\nNo key.`,
    responses: { 200: { headers: { 'X-Deprecation-Warning': { $ref: '#/components/headers/X-Deprecation-Warning' } } } }
  })
  has(t, resolved(document, paths['/api/v1/things'].get.responses.default), {
    headers: { 'X-Deprecation-Warning': { $ref: '#/components/headers/X-Deprecation-Warning' } }
  })
  t.notOk('deprecated' in paths['/api/v1/others'].get)
})

await t.test('no route is on its way out', async (t) => {
  const { body: { paths } } = await service.send('GET', '/openapi.json', {}, null)
  lacks(t, JSON.stringify(paths), /"deprecated":true/)
})
