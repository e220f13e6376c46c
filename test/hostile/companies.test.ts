import { hashPassword } from '@dispatch/accounts'
import { chains, type ErrorWord, keyScopes, type Role, versionNames } from '@dispatch/contract'
import { sql } from 'kysely'
import { randomUUID, randomUUIDv7 } from 'node:crypto'
import t, { type Test } from 'tap'
import { createVendor, vendorNetwork } from '../../core/packages/conformance/vendor/vendor.ts'
import { noteCallback } from '../../core/packages/features/callbacks/store/outbox.ts'
import { usage } from '../../core/packages/features/usage/service/usage.ts'
import { parts } from '../../plugins/openapi/tags.ts'
import { directory, provide } from '../fixtures/providers/folders.ts'
import { letter } from '../plugins/support/templates.ts'
import { chainBody } from '../support/chains.ts'
import { has, lacks } from '../support/matching.ts'
import { type Answer, invoiceRequest, type Login, type Sending, shippedProviders, startService } from '../support/service.ts'
import { callers, rights } from './fixtures/rights.ts'
import { dump, hasNoFault, isError, routesOf } from './support.ts'

const folder = await directory(t)
await provide(folder, 'sample')
const receiver = await createVendor()
t.teardown(receiver.close)
receiver.answer({ status: 200 })
// Nothing but these tests changes a row.
const service = await startService(t, {
  config: { runsWorker: false, providerDirectories: [shippedProviders, folder] },
  replacements: { network: vendorNetwork(receiver) }
})
const { app, send } = service
const { owner } = app.get('database')

/** Something of a company for every name that a request can carry. */
type Things = {
  dispatchId: string
  documentId: string
  templateId: number
  spareId: number
  asset: string
  callbackId: string
  endpointId: string
  key: string
  memberId: number
  keyId: string
  sessionId: string
  passkeyId: string
  invitationId: string
  draftId: string
  contactId: string
}
type Company = Awaited<ReturnType<typeof service.company>> & Things

/** A company that has used everything; its name stands in all that it has written. */
async function founded (name: string, templateId: number): Promise<Company> {
  const company = await service.company(name, { credits: 10_000 })
  await sql`insert into templates select ${templateId}, ${company.companyId}, ${name}, version, updated_at from templates
    where template_id = 1`.execute(owner)
  await sql`insert into template_versions select ${templateId}, version, ${company.companyId}, ${name}, source, schema, sample, created_at
    from template_versions where template_id = 1 order by version desc limit 1`.execute(owner)
  const spare = await send('POST', '/api/v1/templates', { body: letter({ name: `${name} letter` }) }, company.admin)
  const asset = `asset-${String(templateId)}`
  await send('POST', '/api/v1/assets', { body: { name: asset, image: point } }, company.admin)
  await send('PUT', `/api/v1/partials/${asset}`, { body: { kind: 'partial', source: 'blocks: [{ paragraph: Hi }]' } }, company.admin)
  for (const [login, scope] of [[company.admin, 'company'], [company.admin, 'my'], [company.member, 'my']] as const) {
    await send('PUT', `/api/v1/${scope}/providers/sample`, { body: { settings: { region: `${name}-${scope}`, token: `${name}-token` } } },
      login)
  }
  await send('PUT', '/api/v1/my/config/invoicing', { body: { providerName: 'simulator' } }, company.member)
  const request = invoiceRequest({ number: `${name}-1`, customer: { name } }, { metadata: { note: name }, invoicing: { reference: name } })
  const { body } = await send('POST', '/api/invoicing', { body: request, headers: { 'x-idempotency-key': 'first' } }, company.admin)
  const callbackId = await owner.transaction().execute((queries) =>
    noteCallback(queries, {
      companyId: company.companyId,
      dispatchId: body.dispatchId,
      type: 'dispatch.succeeded',
      url: `https://${name}.test/`,
      data: { name },
      now: new Date(),
      // Nothing sends it meanwhile.
      due: sql<Date>`now() + interval '1 day'`,
      newId: randomUUIDv7
    })
  )
  await send('POST', '/api/v1/company/callback-secret', {}, company.admin)
  await sql`insert into request_log (entry_id, company_id, user_id, request_id, method, route, path, status, milliseconds, address)
    values (${randomUUIDv7()}, ${company.companyId}, 0, ${name}, 'GET', ${name}, ${name}, 200, 1, '')`.execute(owner)
  const endpoint = await send('POST', '/api/v1/company/callback-endpoints', {
    body: { name, url: `https://${name}.test/`, enabled: false }
  }, company.admin)
  const { userId: memberId, id: keyId } = (await send('POST', '/api/v1/keys', { body: { name, mode: 'live' } }, company.member)).body
  await app.get('sessions').open(company.member.email, company.member.password, { address: '192.0.2.1', browser: name })
  const sessionId = (await send('GET', '/api/v1/my/sessions', {}, company.member)).body.data[0].id
  const passkeyId = randomUUIDv7()
  await sql`insert into passkeys (passkey_id, company_id, user_id, credential, public_key, counter, transports, name, created_at)
    values (${passkeyId}, ${company.companyId}, ${memberId}, ${name}, '', 0, '{}', ${name}, now())`.execute(owner)
  const guest = { email: `guest@${name}.example.com`, role: 'member', services: [] }
  const { body: { id: invitationId } } = await send('POST', '/api/v1/company/invitations', { body: guest }, company.admin)
  const draft = { service: 'file', request: { note: name }, shared: true }
  const { body: { id: draftId } } = await send('POST', '/api/v1/drafts', { body: draft }, company.admin)
  const { body: { id: contactId } } = await send('POST', '/api/v1/contacts', { body: { name } }, company.admin)
  await send('PUT', '/api/v1/company/details', { body: { seller: { name } } }, company.admin)
  return {
    ...company,
    contactId,
    draftId,
    sessionId,
    passkeyId,
    invitationId,
    memberId,
    keyId,
    dispatchId: body.dispatchId,
    documentId: body.generatedDocument.id,
    templateId,
    spareId: spare.body.id,
    asset,
    callbackId,
    endpointId: endpoint.body.id,
    key: 'first'
  }
}

const point = 'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='
const zanzibar = await founded('zanzibar', 900_000)
const own = await founded('own', 900_001)

type Row = {
  /** Who may send it. */
  roles: readonly Role[]
  /** Only for users who may use the service. */
  service?: boolean
  request: (things: Things) => { path: string, sending?: Sending }
  /** The statuses of the answers to those who may. */
  ok?: readonly number[]
  /** The answer when the thing that it names is another company's; absent where it can name none. */
  foreign?: ErrorWord
  /** Operators are shown every company by it. */
  ofPlatform?: true
}

const everyone = ['operator', 'admin', 'member'] as const
const at = (path: string, body?: unknown) => () => ({ path, ...(body === undefined ? {} : { sending: { body } }) })
const choice = { providerName: 'simulator' }
const newUser = () => ({ email: `${randomUUID()}@own.example.com`, password: 'a good password' })
const configuration = { settings: { region: 'north' } }

/** What a request of the other services has beside its template. */
const others = {
  esign: { signers: [{ email: 'ada@example.com', firstName: 'Ada', lastName: 'Lovelace' }] },
  postal: { postal: { recipient: { name: 'Ada', address: '12 rue de la Paix', city: 'Paris', postalCode: '75002', country: 'FR' } } },
  sms: { sms: { phoneNumber: '+33612345678', message: 'Hello' } },
  email: { from: 'demo@example.com', to: ['ada@example.com'], subject: 'Hello' },
  file: {}
}

/** Every route that needs credentials. */
const matrix: Record<string, Row> = {
  'POST /api/invoicing': {
    roles: everyone,
    service: true,
    request: ({ templateId }) => ({ path: '/api/invoicing', sending: { body: fromTemplate(templateId) } }),
    foreign: 'template_not_found'
  },
  'POST /api/invoicing/validate': {
    roles: everyone,
    service: true,
    request: ({ templateId }) => ({ path: '/api/invoicing/validate', sending: { body: fromTemplate(templateId) } }),
    foreign: 'template_not_found'
  },
  ...Object.fromEntries(Object.entries(others).flatMap(([service, fields]) =>
    ['', '/validate'].map((ending) => {
      const path = `/api/${service}${ending}`
      return [
        `POST ${path}`,
        {
          roles: everyone,
          service: true,
          request: ({ templateId }: Things) => ({ path, sending: { body: { template: { id: templateId, data: {} }, ...fields } } }),
          ok: [200, 422],
          foreign: 'template_not_found'
        }
      ]
    })
  )),
  ...Object.fromEntries(chains.filter(({ length }) => length === 2).flatMap((chain) =>
    ['', '/validate'].map((ending) => {
      const path = `/api/${chain.join('/')}${ending}`
      return [
        `POST ${path}`,
        {
          roles: everyone,
          service: true,
          request: ({ templateId }: Things) => ({ path, sending: { body: chainBody(chain, { id: templateId, data: {} }) } }),
          ok: [200, 422],
          foreign: 'template_not_found'
        }
      ]
    })
  )),
  ...Object.fromEntries(
    [['file', 'sms'], ['file', 'sms', 'postal'], ['file', 'sms', 'postal', 'upload']].flatMap((chain) =>
      ['', '/validate'].map((ending) => {
        const route = `/api/${[':first', ':second', ':third', ':fourth'].slice(0, chain.length).join('/')}${ending}`
        const { sms, postal } = { ...others.sms, ...others.postal }
        const fields = { sms, ...(chain.includes('postal') ? { postal } : {}) }
        return [
          `POST ${route}`,
          {
            roles: everyone,
            service: true,
            request: ({ templateId }: Things) => ({
              path: `/api/${chain.join('/')}${ending}`,
              sending: { body: { template: { id: templateId, data: {} }, ...fields } }
            }),
            ok: [200, 422],
            foreign: 'template_not_found'
          }
        ]
      })
    )
  ),
  'POST /api/v1/dispatches/:id/retry': {
    roles: everyone,
    request: ({ dispatchId }) => ({ path: `/api/v1/dispatches/${dispatchId}/retry` }),
    ok: [409],
    foreign: 'not_found'
  },
  'POST /api/v1/dispatches/:id/cancel': {
    roles: everyone,
    request: ({ dispatchId }) => ({ path: `/api/v1/dispatches/${dispatchId}/cancel` }),
    ok: [409],
    foreign: 'not_found'
  },
  'GET /api/v1/dispatches/:id/statuses': {
    roles: everyone,
    request: ({ dispatchId }) => ({ path: `/api/v1/dispatches/${dispatchId}/statuses` }),
    foreign: 'not_found'
  },
  'POST /api/v1/dispatches/:id/statuses': {
    roles: everyone,
    request: ({ dispatchId }) => ({ path: `/api/v1/dispatches/${dispatchId}/statuses`, sending: { body: { code: '212' } } }),
    ok: [409],
    foreign: 'not_found'
  },
  'PUT /api/v1/dispatches/:id/schedule': {
    roles: everyone,
    request: ({ dispatchId }) => ({ path: `/api/v1/dispatches/${dispatchId}/schedule`, sending: { body: {} } }),
    ok: [409],
    foreign: 'not_found'
  },
  'POST /api/v1/dispatches/:id/resolve': {
    roles: ['admin'],
    request: ({ dispatchId }) => ({
      path: `/api/v1/dispatches/${dispatchId}/resolve`,
      sending: { body: { outcome: 'accepted', reason: 'Seen.' } }
    }),
    ok: [409],
    foreign: 'not_found'
  },
  'POST /api/upload': { roles: everyone, service: true, request: at('/api/upload', {}), ok: [415] },
  'GET /api/v1/dispatches': { roles: everyone, request: at('/api/v1/dispatches?recipient=zanzibar') },
  'GET /api/v1/dispatches/statistics': { roles: everyone, request: at('/api/v1/dispatches/statistics') },
  'GET /api/v1/dispatches/:id': {
    roles: everyone,
    request: ({ dispatchId }) => ({ path: `/api/v1/dispatches/${dispatchId}` }),
    foreign: 'not_found'
  },
  'GET /api/v1/dispatches/changes': { roles: everyone, request: at('/api/v1/dispatches/changes?seconds=1') },
  'GET /api/v1/dispatches/:id/changes': {
    roles: everyone,
    request: ({ dispatchId }) => ({ path: `/api/v1/dispatches/${dispatchId}/changes?seconds=1` }),
    foreign: 'not_found'
  },
  'GET /api/v1/dispatches/:id/events': {
    roles: everyone,
    request: ({ dispatchId }) => ({ path: `/api/v1/dispatches/${dispatchId}/events` }),
    foreign: 'not_found'
  },
  'GET /api/v1/dispatches/:id/request': {
    roles: everyone,
    request: ({ dispatchId }) => ({ path: `/api/v1/dispatches/${dispatchId}/request` }),
    foreign: 'not_found'
  },
  'GET /api/v1/dispatches/:id/calls': {
    roles: ['admin'],
    request: ({ dispatchId }) => ({ path: `/api/v1/dispatches/${dispatchId}/calls` }),
    foreign: 'not_found'
  },
  'GET /api/v1/dispatches/:id/choices': {
    roles: everyone,
    request: ({ dispatchId }) => ({ path: `/api/v1/dispatches/${dispatchId}/choices` }),
    foreign: 'not_found'
  },
  'GET /api/v1/dispatches/:id/callbacks': {
    roles: everyone,
    request: ({ dispatchId }) => ({ path: `/api/v1/dispatches/${dispatchId}/callbacks` }),
    foreign: 'not_found'
  },
  'POST /api/v1/callbacks/:id/replay': {
    roles: ['admin'],
    request: ({ callbackId }) => ({ path: `/api/v1/callbacks/${callbackId}/replay` }),
    ok: [200, 409],
    foreign: 'not_found'
  },
  'GET /api/v1/company/requests': { roles: ['operator', 'admin'], request: at('/api/v1/company/requests') },
  'GET /api/v1/company/callbacks/failed': { roles: ['operator', 'admin'], request: at('/api/v1/company/callbacks/failed') },
  'GET /api/v1/company/limits': { roles: everyone, request: at('/api/v1/company/limits') },
  'GET /api/v1/company/callbacks': { roles: ['operator', 'admin'], request: at('/api/v1/company/callbacks') },
  'GET /api/v1/company/callback-secret': { roles: ['admin'], request: at('/api/v1/company/callback-secret') },
  'POST /api/v1/company/callback-secret': { roles: ['admin'], request: at('/api/v1/company/callback-secret') },
  'GET /api/v1/company/callback-endpoints': { roles: ['admin'], request: at('/api/v1/company/callback-endpoints') },
  'POST /api/v1/company/callback-endpoints': {
    roles: ['admin'],
    request: () => ({ path: '/api/v1/company/callback-endpoints', sending: { body: { name: 'A', url: 'https://a.test/' } } }),
    ok: [201, 409]
  },
  'GET /api/v1/company/callback-endpoints/:id': {
    roles: ['admin'],
    request: ({ endpointId }) => ({ path: `/api/v1/company/callback-endpoints/${endpointId}` }),
    foreign: 'not_found'
  },
  'PUT /api/v1/company/callback-endpoints/:id': {
    roles: ['admin'],
    request: ({ endpointId }) => ({ path: `/api/v1/company/callback-endpoints/${endpointId}`, sending: { body: { name: 'A' } } }),
    foreign: 'not_found'
  },
  'POST /api/v1/company/callback-endpoints/:id/secret': {
    roles: ['admin'],
    request: ({ endpointId }) => ({ path: `/api/v1/company/callback-endpoints/${endpointId}/secret` }),
    foreign: 'not_found'
  },
  'POST /api/v1/company/callback-endpoints/:id/test': {
    roles: ['admin'],
    request: ({ endpointId }) => ({ path: `/api/v1/company/callback-endpoints/${endpointId}/test` }),
    foreign: 'not_found'
  },
  'GET /api/v1/company/callback-endpoints/:id/callbacks': {
    roles: ['admin'],
    request: ({ endpointId }) => ({ path: `/api/v1/company/callback-endpoints/${endpointId}/callbacks` }),
    foreign: 'not_found'
  },
  'POST /api/v1/company/callback-endpoints/:id/resend': {
    roles: ['admin'],
    request: ({ endpointId }) => ({
      path: `/api/v1/company/callback-endpoints/${endpointId}/resend`,
      sending: { body: { since: '2026-01-01T00:00:00.000Z' } }
    }),
    ok: [200, 409],
    foreign: 'not_found'
  },
  'DELETE /api/v1/company/callback-endpoints/:id': {
    roles: ['admin'],
    request: ({ endpointId }) => ({ path: `/api/v1/company/callback-endpoints/${endpointId}` }),
    ok: [204],
    foreign: 'not_found'
  },
  'GET /api/v1/documents/:id': {
    roles: everyone,
    request: ({ documentId }) => ({ path: `/api/v1/documents/${documentId}` }),
    foreign: 'not_found'
  },
  'GET /api/v1/platform/dispatches': { roles: ['operator'], request: at('/api/v1/platform/dispatches?search=F-2026-001') },
  'GET /api/v1/queue/holds': { roles: ['operator'], request: at('/api/v1/queue/holds') },
  'GET /api/v1/queue/holds/:id': { roles: ['operator'], request: at(`/api/v1/queue/holds/${randomUUIDv7()}`), ok: [404] },
  'POST /api/v1/queue/holds/:id/resolve': {
    roles: ['operator'],
    request: at(`/api/v1/queue/holds/${randomUUIDv7()}/resolve`, { outcome: 'accepted', reason: 'Seen.' }),
    ok: [404]
  },
  'GET /api/v1/queue': { roles: ['operator'], request: at('/api/v1/queue') },
  'POST /api/v1/queue/release': { roles: ['operator', 'admin'], request: at('/api/v1/queue/release', {}) },
  'GET /api/v1/credits': { roles: everyone, request: at('/api/v1/credits') },
  'GET /api/v1/templates': { roles: everyone, request: at('/api/v1/templates') },
  'GET /api/v1/templates/:id': {
    roles: everyone,
    request: ({ templateId }) => ({ path: `/api/v1/templates/${String(templateId)}` }),
    foreign: 'template_not_found'
  },
  'GET /api/v1/templates/:id/versions': {
    roles: everyone,
    request: ({ templateId }) => ({ path: `/api/v1/templates/${String(templateId)}/versions` }),
    foreign: 'template_not_found'
  },
  'GET /api/v1/templates/:id/check': {
    roles: ['admin'],
    request: ({ templateId }) => ({ path: `/api/v1/templates/${String(templateId)}/check` }),
    foreign: 'template_not_found'
  },
  'POST /api/v1/templates': { roles: ['admin'], request: at('/api/v1/templates', letter({ name: 'New' })), ok: [201, 409] },
  'PUT /api/v1/templates/:id': {
    roles: ['admin'],
    request: ({ templateId }) => ({
      path: `/api/v1/templates/${String(templateId)}`,
      sending: { body: { baseVersion: 1, ...letter({ name: 'Changed' }) } }
    }),
    foreign: 'template_not_found'
  },
  'DELETE /api/v1/templates/:id': {
    roles: ['admin'],
    request: ({ spareId }) => ({ path: `/api/v1/templates/${String(spareId)}` }),
    ok: [204],
    foreign: 'template_not_found'
  },
  'POST /api/v1/templates/:id/publish': {
    roles: ['admin'],
    request: ({ templateId }) => ({ path: `/api/v1/templates/${String(templateId)}/publish`, sending: { body: { version: 1 } } }),
    foreign: 'template_not_found'
  },
  'POST /api/v1/templates/:id/preview': {
    roles: everyone,
    service: true,
    request: ({ templateId }) => ({ path: `/api/v1/templates/${String(templateId)}/preview`, sending: { body: { format: 'TEXT' } } }),
    foreign: 'template_not_found'
  },
  'POST /api/v1/templates/:id/e-invoices': {
    roles: everyone,
    service: true,
    request: ({ templateId }) => ({ path: `/api/v1/templates/${String(templateId)}/e-invoices`, sending: { body: {} } }),
    foreign: 'template_not_found'
  },
  'POST /api/v1/templates/preview': { roles: ['admin'], request: at('/api/v1/templates/preview', letter({ name: 'Nowhere' })) },
  'GET /api/v1/assets': { roles: everyone, request: at('/api/v1/assets') },
  'GET /api/v1/assets/:name': { roles: everyone, request: ({ asset }) => ({ path: `/api/v1/assets/${asset}` }), foreign: 'not_found' },
  'GET /api/v1/assets/:name/templates': {
    roles: everyone,
    request: ({ asset }) => ({ path: `/api/v1/assets/${asset}/templates` }),
    foreign: 'not_found'
  },
  'PUT /api/v1/assets/:name': {
    roles: ['admin'],
    request: ({ asset }) => ({ path: `/api/v1/assets/${asset}`, sending: { body: { image: point } } }),
    foreign: 'not_found'
  },
  'POST /api/v1/assets': { roles: ['admin'], request: at('/api/v1/assets', { name: 'new', image: point }), ok: [201, 409] },
  'GET /api/v1/partials': { roles: everyone, request: at('/api/v1/partials') },
  'GET /api/v1/partials/:name': {
    roles: everyone,
    request: ({ asset }) => ({ path: `/api/v1/partials/${asset}` }),
    foreign: 'not_found'
  },
  'GET /api/v1/partials/:name/templates': {
    roles: everyone,
    request: ({ asset }) => ({ path: `/api/v1/partials/${asset}/templates` }),
    foreign: 'not_found'
  },
  'PUT /api/v1/partials/:name': {
    roles: ['admin'],
    request: at('/api/v1/partials/new', { kind: 'partial', source: 'blocks: [{ paragraph: Hello }]' }),
    ok: [200, 409]
  },
  'DELETE /api/v1/partials/:name': {
    roles: ['admin'],
    request: ({ asset }) => ({ path: `/api/v1/partials/${asset}` }),
    ok: [204],
    foreign: 'not_found'
  },
  'GET /api/v1/company/brand': { roles: everyone, request: at('/api/v1/company/brand') },
  'PUT /api/v1/company/brand': { roles: ['admin'], request: at('/api/v1/company/brand', { accent: '#004d40' }) },
  'POST /api/v1/company/brand/preview': {
    roles: ['admin'],
    request: at('/api/v1/company/brand/preview', { brand: { accent: '#004d40' }, format: 'TEXT' })
  },
  'DELETE /api/v1/assets/:name': {
    roles: ['admin'],
    request: ({ asset }) => ({ path: `/api/v1/assets/${asset}` }),
    ok: [204],
    foreign: 'not_found'
  },
  'GET /api/v1/providers': { roles: everyone, request: at('/api/v1/providers') },
  'GET /api/v1/providers/:code/guide': { roles: everyone, request: at('/api/v1/providers/simulator/guide') },
  'GET /api/v1/providers/processes': { roles: ['operator'], request: at('/api/v1/providers/processes') },
  'PUT /api/v1/providers/:code/publisher': {
    roles: ['operator'],
    request: at('/api/v1/providers/sample/publisher', { packageName: 'sample' })
  },
  'GET /api/v1/oauth-apps': { roles: ['operator'], request: at('/api/v1/oauth-apps') },
  'PUT /api/v1/oauth-apps/:code': {
    roles: ['operator'],
    request: at('/api/v1/oauth-apps/nobody', { clientId: 'client' }),
    ok: [404]
  },
  'DELETE /api/v1/oauth-apps/:code': { roles: ['operator'], request: at('/api/v1/oauth-apps/nobody'), ok: [404] },
  'GET /api/v1/marketplace': { roles: ['operator', 'admin'], request: at('/api/v1/marketplace') },
  'GET /api/v1/marketplace/:code': { roles: ['operator', 'admin'], request: at('/api/v1/marketplace/nobody'), ok: [404] },
  'GET /api/v1/marketplace-comparison': {
    roles: ['operator', 'admin'],
    request: at('/api/v1/marketplace-comparison?codes=nobody,none'),
    ok: [404]
  },
  'GET /api/v1/marketplace/:code/effects': {
    roles: ['operator'],
    request: at('/api/v1/marketplace/nobody/effects?change=disable'),
    ok: [404, 503]
  },
  'POST /api/v1/marketplace/packages': {
    roles: ['operator'],
    request: at('/api/v1/marketplace/packages', { package: 'AAAA' }),
    ok: [422]
  },
  'POST /api/v1/marketplace/refresh': { roles: ['operator'], request: at('/api/v1/marketplace/refresh') },
  'POST /api/v1/marketplace/:code/install': {
    roles: ['operator'],
    request: at('/api/v1/marketplace/nobody/install', { consent: { hosts: [], services: [] } }),
    ok: [404]
  },
  'POST /api/v1/marketplace/:code/upgrade': {
    roles: ['operator'],
    request: at('/api/v1/marketplace/nobody/upgrade', { version: '1.0.0', consent: { hosts: [], services: [] } }),
    ok: [404]
  },
  'POST /api/v1/marketplace/:code/rollback': { roles: ['operator'], request: at('/api/v1/marketplace/nobody/rollback'), ok: [404] },
  'POST /api/v1/marketplace/:code/enable': { roles: ['operator'], request: at('/api/v1/marketplace/nobody/enable'), ok: [404] },
  'POST /api/v1/marketplace/:code/disable': { roles: ['operator'], request: at('/api/v1/marketplace/nobody/disable'), ok: [404] },
  'PUT /api/v1/marketplace/:code/offer': {
    roles: ['operator'],
    request: at('/api/v1/marketplace/nobody/offer', { companies: 'all' }),
    ok: [404]
  },
  'DELETE /api/v1/marketplace/:code': { roles: ['operator'], request: at('/api/v1/marketplace/nobody'), ok: [404] },
  'POST /api/v1/providers/reload': { roles: ['operator'], request: at('/api/v1/providers/reload') },
  'GET /api/v1/my/config': { roles: everyone, request: at('/api/v1/my/config') },
  'PUT /api/v1/my/config/:service': { roles: everyone, service: true, request: at('/api/v1/my/config/invoicing', choice) },
  'PUT /api/v1/my/providers/:code': { roles: everyone, request: at('/api/v1/my/providers/sample', configuration) },
  'POST /api/v1/my/providers/:code/suggestions': {
    roles: everyone,
    request: at('/api/v1/my/providers/sample/suggestions', {}),
    ok: [200, 404]
  },
  'DELETE /api/v1/my/providers/:code': { roles: everyone, request: at('/api/v1/my/providers/sample'), ok: [204, 404] },
  'GET /api/v1/my/providers/:code/connect': { roles: everyone, request: at('/api/v1/my/providers/sample/connect'), ok: [404, 409] },
  'POST /api/v1/my/providers/:code/connect': {
    roles: everyone,
    request: at('/api/v1/my/providers/sample/connect', { confirmation: 'none' }),
    ok: [404, 409]
  },
  'DELETE /api/v1/my/providers/:code/connect': { roles: everyone, request: at('/api/v1/my/providers/sample/connect'), ok: [404, 409] },
  'GET /api/v1/company/providers/:code/connect': {
    roles: ['admin'],
    request: at('/api/v1/company/providers/sample/connect'),
    ok: [404, 409]
  },
  'POST /api/v1/company/providers/:code/connect': {
    roles: ['admin'],
    request: at('/api/v1/company/providers/sample/connect', { confirmation: 'none' }),
    ok: [404, 409]
  },
  'DELETE /api/v1/company/providers/:code/connect': {
    roles: ['admin'],
    request: at('/api/v1/company/providers/sample/connect'),
    ok: [404, 409]
  },
  'PUT /api/v1/company/defaults/:service': { roles: ['admin'], request: at('/api/v1/company/defaults/invoicing', choice) },
  'PUT /api/v1/company/providers/:code': { roles: ['admin'], request: at('/api/v1/company/providers/sample', configuration) },
  'POST /api/v1/company/providers/:code/check': {
    roles: ['admin'],
    request: at('/api/v1/company/providers/sample/check'),
    ok: [200, 404]
  },
  'POST /api/v1/company/providers/:code/suggestions': {
    roles: ['admin'],
    request: at('/api/v1/company/providers/sample/suggestions', {}),
    ok: [200, 404]
  },
  'POST /api/v1/company/providers/:code/dry-run': {
    roles: ['admin'],
    request: at('/api/v1/company/providers/sample/dry-run?service=invoicing', {}),
    ok: [400, 422]
  },
  'DELETE /api/v1/company/providers/:code': { roles: ['admin'], request: at('/api/v1/company/providers/sample'), ok: [204, 404] },
  'GET /api/v1/users': { roles: ['operator', 'admin'], request: at('/api/v1/users') },
  'POST /api/v1/users': {
    roles: ['operator', 'admin'],
    request: () => ({ path: '/api/v1/users', sending: { body: { ...newUser(), role: 'member', services: ['*'] } } }),
    ok: [201]
  },
  'GET /api/v1/users/:id': {
    roles: ['operator', 'admin'],
    request: ({ memberId }) => ({ path: `/api/v1/users/${String(memberId)}` }),
    foreign: 'not_found'
  },
  'PUT /api/v1/users/:id': {
    roles: ['operator', 'admin'],
    request: ({ memberId }) => ({ path: `/api/v1/users/${String(memberId)}`, sending: { body: { services: ['*'] } } }),
    foreign: 'not_found'
  },
  'PUT /api/v1/my/password': {
    roles: everyone,
    request: at('/api/v1/my/password', { current: 'not it', password: 'a good password' }),
    ok: [403]
  },
  'GET /api/v1/my/second-factor': { roles: everyone, request: at('/api/v1/my/second-factor') },
  'POST /api/v1/my/second-factor': { roles: everyone, request: at('/api/v1/my/second-factor'), ok: [201] },
  'POST /api/v1/my/second-factor/confirm': {
    roles: everyone,
    request: at('/api/v1/my/second-factor/confirm', { code: '000000' }),
    ok: [403, 409]
  },
  'POST /api/v1/my/second-factor/recovery-codes': {
    roles: everyone,
    request: at('/api/v1/my/second-factor/recovery-codes', { password: 'not it' }),
    ok: [403]
  },
  'POST /api/v1/my/second-factor/remove': {
    roles: everyone,
    request: at('/api/v1/my/second-factor/remove', { password: 'not it' }),
    ok: [403]
  },
  'POST /api/v1/users/:id/reset': {
    roles: ['operator', 'admin'],
    // The member is needed afterwards: nobody has this id.
    request: () => ({ path: '/api/v1/users/2147483647/reset' }),
    ok: [404],
    foreign: 'not_found'
  },
  'DELETE /api/v1/users/:id/second-factor': {
    roles: ['operator', 'admin'],
    request: ({ memberId }) => ({ path: `/api/v1/users/${String(memberId)}/second-factor` }),
    ok: [409],
    foreign: 'not_found'
  },
  'GET /api/v1/drafts': { roles: everyone, request: at('/api/v1/drafts') },
  'POST /api/v1/drafts': { roles: everyone, request: at('/api/v1/drafts', { service: 'file', request: {} }), ok: [201] },
  'GET /api/v1/drafts/:id': {
    roles: everyone,
    request: ({ draftId }) => ({ path: `/api/v1/drafts/${draftId}` }),
    foreign: 'not_found'
  },
  'PUT /api/v1/drafts/:id': {
    roles: everyone,
    // Of a colleague, and of another company, whose draft of this number is another one.
    request: ({ draftId }) => ({ path: `/api/v1/drafts/${draftId}`, sending: { body: { service: 'file', request: {} } } }),
    ok: [200, 404]
  },
  'DELETE /api/v1/drafts/:id': {
    roles: everyone,
    request: () => ({ path: `/api/v1/drafts/${randomUUID()}` }),
    ok: [404],
    foreign: 'not_found'
  },
  'GET /api/v1/contacts': { roles: everyone, request: at('/api/v1/contacts') },
  'POST /api/v1/contacts': { roles: everyone, request: at('/api/v1/contacts', { name: 'Ada' }), ok: [201] },
  'GET /api/v1/contacts/:id': {
    roles: everyone,
    request: ({ contactId }) => ({ path: `/api/v1/contacts/${contactId}` }),
    foreign: 'not_found'
  },
  'PUT /api/v1/contacts/:id': {
    roles: everyone,
    request: ({ contactId }) => ({ path: `/api/v1/contacts/${contactId}`, sending: { body: { name: 'Ada' } } }),
    foreign: 'not_found'
  },
  'DELETE /api/v1/contacts/:id': {
    roles: everyone,
    request: () => ({ path: `/api/v1/contacts/${randomUUID()}` }),
    ok: [404],
    foreign: 'not_found'
  },
  'GET /api/v1/company/details': { roles: everyone, request: at('/api/v1/company/details') },
  'PUT /api/v1/company/details': { roles: ['admin'], request: at('/api/v1/company/details', { seller: { name: 'Ada' } }) },
  'GET /api/v1/my/passkeys': { roles: everyone, request: at('/api/v1/my/passkeys') },
  'POST /api/v1/my/passkeys/options': { roles: everyone, request: at('/api/v1/my/passkeys/options') },
  'POST /api/v1/my/passkeys': {
    roles: everyone,
    request: at('/api/v1/my/passkeys', {
      name: 'Laptop',
      response: { id: '', rawId: '', type: 'public-key', response: { clientDataJSON: '', attestationObject: '' } }
    }),
    ok: [403]
  },
  'PUT /api/v1/my/passkeys/:id': {
    roles: everyone,
    request: ({ passkeyId }) => ({ path: `/api/v1/my/passkeys/${passkeyId}`, sending: { body: { name: 'Mine' } } }),
    ok: [200, 404],
    foreign: 'not_found'
  },
  'POST /api/v1/my/passkeys/:id/remove': {
    roles: everyone,
    request: ({ passkeyId }) => ({ path: `/api/v1/my/passkeys/${passkeyId}/remove`, sending: { body: { password: 'not it' } } }),
    ok: [403],
    foreign: 'forbidden'
  },
  'GET /api/v1/company': { roles: ['operator', 'admin'], request: at('/api/v1/company') },
  'PUT /api/v1/company': { roles: ['operator', 'admin'], request: at('/api/v1/company', { lowCredit: 1 }) },
  'GET /api/v1/audit': { roles: ['operator', 'admin'], request: at('/api/v1/audit') },
  'GET /api/v1/companies': { roles: ['operator'], request: at('/api/v1/companies'), ofPlatform: true },
  'POST /api/v1/companies': {
    roles: ['operator'],
    request: () => ({ path: '/api/v1/companies', sending: { body: { name: 'Another', credits: 1, admin: newUser() } } }),
    ok: [201]
  },
  'GET /api/v1/companies/:id': { roles: ['operator'], request: () => ({ path: `/api/v1/companies/${String(own.companyId)}` }) },
  'PUT /api/v1/companies/:id': {
    roles: ['operator'],
    request: () => ({ path: `/api/v1/companies/${String(own.companyId)}`, sending: { body: { disabled: false } } })
  },
  'GET /api/v1/companies/:id/users': {
    roles: ['operator'],
    request: () => ({ path: `/api/v1/companies/${String(own.companyId)}/users` })
  },
  'GET /api/v1/companies/:id/users/:userId': {
    roles: ['operator'],
    request: () => ({ path: `/api/v1/companies/${String(own.companyId)}/users/${String(own.memberId)}` })
  },
  'GET /api/v1/companies/:id/domains': {
    roles: ['operator'],
    request: () => ({ path: `/api/v1/companies/${String(own.companyId)}/domains` })
  },
  'PUT /api/v1/companies/:id/domains': {
    roles: ['operator'],
    request: () => ({ path: `/api/v1/companies/${String(own.companyId)}/domains`, sending: { body: { domains: [] } } })
  },
  'POST /api/v1/companies/:id/credits': {
    roles: ['operator'],
    request: () => ({ path: `/api/v1/companies/${String(own.companyId)}/credits`, sending: { body: { amount: 1, reason: 'One more' } } })
  },
  'POST /api/v1/keys': {
    roles: everyone,
    request: ({ memberId }) => ({ path: '/api/v1/keys', sending: { body: { name: 'Another', mode: 'test', userId: memberId } } }),
    ok: [201],
    foreign: 'not_found'
  },
  'GET /api/v1/keys': { roles: everyone, request: at('/api/v1/keys') },
  'DELETE /api/v1/keys/:id': {
    roles: everyone,
    request: ({ keyId }) => ({ path: `/api/v1/keys/${keyId}` }),
    ok: [204, 404],
    foreign: 'not_found'
  },
  'GET /api/v1/my/notices': { roles: everyone, request: at('/api/v1/my/notices') },
  'GET /api/v1/my/sessions': { roles: everyone, request: at('/api/v1/my/sessions') },
  'DELETE /api/v1/my/sessions/:id': {
    roles: everyone,
    request: ({ sessionId }) => ({ path: `/api/v1/my/sessions/${sessionId}` }),
    ok: [204, 404],
    foreign: 'not_found'
  },
  'GET /api/v1/company/invitations': { roles: ['operator', 'admin'], request: at('/api/v1/company/invitations') },
  'POST /api/v1/company/invitations': {
    roles: ['operator', 'admin'],
    request: () => ({
      path: '/api/v1/company/invitations',
      sending: { body: { email: `${randomUUID()}@own.example.com`, role: 'member', services: [] } }
    }),
    ok: [201]
  },
  'POST /api/v1/company/invitations/:id/renew': {
    roles: ['operator', 'admin'],
    request: ({ invitationId }) => ({ path: `/api/v1/company/invitations/${invitationId}/renew` }),
    foreign: 'not_found'
  },
  'DELETE /api/v1/company/invitations/:id': {
    roles: ['operator', 'admin'],
    request: ({ invitationId }) => ({ path: `/api/v1/company/invitations/${invitationId}` }),
    ok: [204, 404],
    foreign: 'not_found'
  },
  'POST /api/v1/users/:id/password-link': {
    roles: ['operator', 'admin'],
    request: ({ memberId }) => ({ path: `/api/v1/users/${String(memberId)}/password-link` }),
    ok: [201],
    foreign: 'not_found'
  },
  'GET /api/v1/link-mail': { roles: ['operator', 'admin'], request: at('/api/v1/link-mail') },
  'PUT /api/v1/link-mail': {
    roles: ['operator'],
    request: at('/api/v1/link-mail', { providerName: 'smtp', from: 'x@acme.test' }),
    ok: [422]
  },
  'DELETE /api/v1/link-mail': { roles: ['operator'], request: at('/api/v1/link-mail'), ok: [404] },
  'GET /api/v1/company/single-sign-on': { roles: ['operator', 'admin'], request: at('/api/v1/company/single-sign-on') },
  'PUT /api/v1/company/single-sign-on': {
    roles: ['operator', 'admin'],
    request: at('/api/v1/company/single-sign-on', { issuer: 'x', clientId: 'x', clientSecret: 'x' }),
    ok: [422]
  },
  'DELETE /api/v1/company/single-sign-on': { roles: ['operator', 'admin'], request: at('/api/v1/company/single-sign-on'), ok: [404] },
  'GET /api/v1/users/:id/single-sign-on': {
    roles: ['operator', 'admin'],
    request: ({ memberId }) => ({ path: `/api/v1/users/${String(memberId)}/single-sign-on` }),
    foreign: 'not_found'
  },
  'DELETE /api/v1/users/:id/single-sign-on': {
    roles: ['operator', 'admin'],
    request: ({ memberId }) => ({ path: `/api/v1/users/${String(memberId)}/single-sign-on` }),
    ok: [404],
    foreign: 'not_found'
  },
  'POST /api/v1/my/single-sign-on/unlink': {
    roles: everyone,
    request: at('/api/v1/my/single-sign-on/unlink', { password: 'password' }),
    ok: [409]
  },
  'GET /api/v1/my/single-sign-on': { roles: everyone, request: at('/api/v1/my/single-sign-on') },
  // Operators may act as anybody: whom admins may not, impersonation.test.ts says.
  'POST /auth/impersonate': { roles: ['operator', 'admin'], request: at('/auth/impersonate', { userId: own.memberId }) },
  'GET /healthz': { roles: everyone, request: at('/healthz') },
  'GET /api/v1/simulator/outbox': { roles: everyone, request: at('/api/v1/simulator/outbox') },
  'POST /api/v1/simulator/events': {
    roles: everyone,
    request: ({ dispatchId }) => ({ path: '/api/v1/simulator/events', sending: { body: { dispatchId, status: 'viewed' } } }),
    ok: [422],
    foreign: 'not_found'
  }
}

/**
 * Every other route: nothing in them is a company's, or a signature stands in for the credentials. The console has its sessions: see
 * test/plugins/console.test.ts.
 */
const open = ['POST /auth', 'POST /auth/links/read', 'POST /auth/links/use', 'GET /auth/password-links', 'POST /auth/password-links',
  'GET /auth/refresh', 'GET /d/:token', 'GET /', 'GET /livez', 'GET /readyz', 'GET /.well-known/security.txt',
  'GET /api/connect/:code/callback', 'POST /api/webhooks/:service/providers/:provider/endpoint.json',
  'GET /api/webhooks/:service/providers/:provider/endpoint.json', 'GET /openapi.json',
  ...versionNames.flatMap((version) =>
    ['', ...Object.keys(parts).map((part) => `/${part}`)].map((part) => `GET /openapi/${version}${part}.json`)
  )]

function fromTemplate (id: number): Record<string, unknown> {
  const request = invoiceRequest() as { template: object }
  return { ...request, template: { ...request.template, id } }
}

function ask (name: string, row: Row, things: Things, login: Login | null): Promise<Answer> {
  const { path, sending } = row.request(things)
  return send(name.split(' ', 1)[0] ?? '', path, sending, login)
}

/** Nothing that a company has written comes back to another one. */
function keepsSecret (t: Test, { headers, body }: Answer, name: string): void {
  lacks(t, `${JSON.stringify([...headers])}${JSON.stringify(body)}`.toLowerCase(), 'zanzibar', `${name} tells nothing`)
}

await t.test('every route has its row in the matrix, and is open only if it is listed', async (t) => {
  // Those of features are asked for in features.test.ts: a new one needs no row.
  const needsRow = (name: string, feature?: string): boolean => feature === undefined || Object.hasOwn(matrix, name) || open.includes(name)
  const routes = (await routesOf(app)).filter(({ method, url, config }) =>
    needsRow(`${method} ${url}`, config.feature) && !/^\/(?:docs|console)/.test(url)
  )
  const names = (isPublic: boolean): string[] =>
    routes.filter((route) => route.public === isPublic).map(({ method, url }) => `${method} ${url}`).sort()
  t.same(names(false), Object.keys(matrix).sort())
  t.same(names(true), [...open].sort())
})

await t.test('without credentials every row is 401', async (t) => {
  for (const [name, row] of Object.entries(matrix)) isError(t, await ask(name, row, own, null), 'unauthorized', name)
})

await t.test('each role may do what its row says, and nothing else', async (t) => {
  for (const [name, row] of Object.entries(matrix)) {
    for (const role of everyone) {
      const answer = await ask(name, row, own, own[role])
      if (row.roles.includes(role)) t.ok((row.ok ?? [200]).includes(answer.status), `${role}: ${name} is ${String(answer.status)}`)
      else isError(t, answer, 'forbidden', `${role}: ${name}`)
      if (row.ofPlatform !== true || role !== 'operator') keepsSecret(t, answer, `${role}: ${name}`)
    }
  }
})

await t.test('what belongs to another company is not there', async (t) => {
  const before = await rowsOf(zanzibar)
  for (const [name, row] of Object.entries(matrix)) {
    for (const role of everyone) {
      const answer = await ask(name, row, zanzibar, own[role])
      if (row.foreign !== undefined) isError(t, answer, row.roles.includes(role) ? row.foreign : 'forbidden', `${role}: ${name}`)
      if (row.ofPlatform !== true || role !== 'operator') keepsSecret(t, answer, `${role}: ${name}`)
    }
  }
  const { status } = await send('POST', '/api/invoicing', { body: invoiceRequest({ number: 'own-2' }) }, own.admin)
  t.equal(status, 200)
  t.same(await rowsOf(zanzibar), before, 'and what others send is not counted for it')
})

await t.test('an idempotency key is its company\'s own', async (t) => {
  const other = await send('POST', '/api/invoicing', { body: invoiceRequest(), headers: { 'x-idempotency-key': zanzibar.key } },
    (await service.company('keyless')).admin)
  t.equal(other.status, 200)
  t.not(other.body.dispatchId, zanzibar.dispatchId)
})

await t.test('an invoice number that another company has taken is free', async (t) => {
  const { status } = await send('POST', '/api/invoicing', { body: invoiceRequest({ number: 'zanzibar-1' }) }, own.admin)
  t.equal(status, 200)
})

await t.test('what a user has configured for themselves is not their colleague\'s, and is not mixed with the company\'s', async (t) => {
  const { body } = await send('GET', '/api/v1/my/config', {}, zanzibar.operator)
  has(t, body, {
    user: { choices: {}, providers: [] },
    company: { providers: [{ code: 'sample', settings: { region: 'zanzibar-company' } }, { code: 'simulator' }] }
  })
  const mine = await send('GET', '/api/v1/my/config', {}, zanzibar.member)
  has(t, mine.body.user.providers, [{ code: 'sample', settings: { region: 'zanzibar-my' } }])
})

await t.test('who may not use a service is refused, also what a colleague\'s key would replay', async (t) => {
  const passwordHash = await hashPassword('password')
  const login = { email: 'nothing@own.example.com', password: 'password' }
  await sql`insert into users (company_id, email, role, services, password_hash, password_set_at, created_at)
    values (${own.companyId}, ${login.email}, 'admin', '{nothing}', ${passwordHash}, now(), now())`.execute(owner)
  for (const [name, row] of Object.entries(matrix).filter(([, { service }]) => service === true)) {
    isError(t, await ask(name, row, own, login), 'forbidden', name)
  }
  const before = await rowsOf(own)
  isError(t, await send('POST', '/api/invoicing', { body: invoiceRequest(), headers: { 'x-idempotency-key': own.key } }, login),
    'forbidden')
  t.same(await rowsOf(own), before)
})

/** The rows of a company, with all that it has used until now. */
async function rowsOf ({ companyId }: Company): Promise<Record<string, string[]>> {
  await app.find(usage).count()
  const rows = await dump(app, companyId)
  t.ok((rows['usage_hours'] ?? []).length > 0, 'its use is counted')
  return rows
}

/** Everybody who may ask, in the order of the columns of the table. */
async function callersOf (company: Company): Promise<Record<typeof callers[number], Caller>> {
  const limited = async (role: Role): Promise<Caller> => {
    const login = { email: `file-${company.admin.email.replace('admin', role)}`, password: 'a good password' }
    await send('POST', '/api/v1/users', { body: { ...login, role, services: ['file'] } }, company.admin)
    return { login }
  }
  const keyOf = async (scopes: readonly string[] | undefined, login: Login, more: object = {}): Promise<Caller> => {
    const body = { name: 'Caller', mode: 'live', ...scopes === undefined ? {} : { scopes }, ...more }
    return { bearer: (await send('POST', '/api/v1/keys', { body }, login)).body.key }
  }
  const ofAdmins = keyScopes.filter((scope) => scope !== 'platform' && scope !== 'propose')
  const token = (await send('POST', '/auth/impersonate', { body: { userId: company.memberId } }, company.admin)).body.data.token
  return {
    nobody: {},
    adminElsewhere: { login: zanzibar.admin },
    memberOfFile: await limited('member'),
    adminOfFile: await limited('admin'),
    member: { login: company.member },
    adminAsMember: { bearer: token },
    admin: { login: company.admin },
    operator: { login: company.operator },
    smsKey: await keyOf(ofAdmins, company.admin, { services: ['sms'] }),
    usualKey: await keyOf(undefined, company.admin),
    wideKey: await keyOf(ofAdmins, company.admin),
    readAllKey: await keyOf(['read_all'], company.admin),
    templatesKey: await keyOf(['templates'], company.admin),
    configurationKey: await keyOf(['configuration'], company.admin),
    callbacksKey: await keyOf(['callbacks'], company.admin),
    auditKey: await keyOf(['audit'], company.admin),
    platformKey: await keyOf(['platform'], company.operator),
    testKey: await keyOf(['send', 'read_own', 'read_all', 'configuration'], company.admin, { mode: 'test' })
  }
}

/** Who asks; nobody where there is neither. */
type Caller = { login?: Login, bearer?: string }

/**
 * What an answer says of its caller, in the words of the table; else the status. What somebody before has removed or changed is a 404 or
 * 409 to who may do the same.
 */
function cellOf ({ status, body }: Answer, { ok = [200] }: Row, isRepeated: boolean): string {
  // Some answer 403 to a wrong password or code, which is as far as who may ask gets.
  if (status === 403 && (!ok.includes(403) || /^(?:An API|This API|A test) key/.test(body.message))) return '-'
  if (ok.includes(status) || (isRepeated && (status === 404 || status === 409))) return '+'
  return { 401: '!', 404: '0' }[status] ?? String(status)
}

await t.test('each caller may do what its cell says, and nothing else', async (t) => {
  const company = await founded('third', 900_002)
  const asking = await callersOf(company)
  t.same(Object.keys(rights).sort(), Object.keys(matrix).sort(), 'every operation has its line')
  for (const [name, row] of Object.entries(matrix)) {
    const cells: string[] = []
    for (const who of callers) {
      const { login = null, bearer } = asking[who]
      const { path, sending } = row.request(company)
      const [method = ''] = name.split(' ', 1)
      const headers = bearer === undefined ? {} : { headers: { authorization: `Bearer ${bearer}` } }
      // Where a refusal is expected, nothing was removed or changed.
      const isRepeated = /^(?:DELETE|PUT)$/.test(method) && cells.includes('+') && row.ok?.includes(409) !== true
      cells.push(cellOf(await send(method, path, { ...sending, ...headers }, login), row, isRepeated))
    }
    const written = rights[name]?.replace(' ', '') ?? ''
    t.equal(cells.join(''), written, `${name}: ${callers.filter((_, column) => cells[column] !== written[column]).join()}`)
  }
})

await t.test('an operator of the platform has no way into a company\'s things', async (t) => {
  for (const [name, row] of Object.entries(matrix).filter(([, { foreign }]) => foreign !== undefined)) {
    const answer = await ask(name, row, zanzibar, { email: 'operator@example.com', password: 'operator-password' })
    t.ok(answer.status === 403 || answer.status === 404, name)
    keepsSecret(t, answer, name)
  }
})

await t.test('none of it was a fault of the service', (t) => {
  hasNoFault(t, service)
  t.end()
})
