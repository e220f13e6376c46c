import { sql } from 'kysely'
import { randomUUID, randomUUIDv7 } from 'node:crypto'
import { Secret, TOTP } from 'otpauth'
import t from 'tap'
import { noteAudit } from '../../core/packages/accounts/audit/audit.ts'
import { noteCallback } from '../../core/packages/features/callbacks/store/outbox.ts'
import { tablesIn } from '../../core/packages/features/templates/store/tables.ts'
import { directory, provide, source } from '../fixtures/providers/folders.ts'
import { receiveInvoice } from '../plugins/support/received-invoice.ts'
import { letter } from '../plugins/support/templates.ts'
import { packed } from '../support/adapters.ts'
import { createAuthenticator } from '../support/authenticator.ts'
import { has, lacks } from '../support/matching.ts'
import { operationsOf } from '../support/openapi.ts'
import { quickRenderer } from '../support/quick-renderer.ts'
import { type Answer, invoiceRequest, type Login, operator, shippedProviders, startService } from '../support/service.ts'
import { vendorOf } from '../support/vendor.ts'
import { hasNoFault, isError, tablesOf } from './support.ts'

const folder = await directory(t)
await provide(folder, 'sample')
const books = `connect: { authorizationUrl: 'https://books.test/authorize', tokenUrl: 'https://books.test/token', clientId: 'region' },
  hosts: ['books.test'], services`
await provide(folder, 'books', { 'index.js': source('books').replace('services', books) })
await provide(folder, 'common', {
  'index.js': source('common').replace('services', books.replace('clientId: \'region\'', 'client: \'operator\''))
})
const { vendor, network } = await vendorOf(t)
const issuer = 'https://login.acme.test'
vendor.on('GET /.well-known/openid-configuration', {
  json: { issuer, authorization_endpoint: `${issuer}/a`, token_endpoint: `${issuer}/t`, jwks_uri: `${issuer}/k` }
})
vendor.on('POST /v1/flows', { status: 202, json: { flowId: 'flow-1' } })
vendor.on('POST /token', { json: { access_token: 'canary-of-a-vendor' } })
// What is queued waits: nobody works on it.
const service = await startService(t, {
  config: { runsWorker: false, providerDirectories: [shippedProviders, folder] },
  replacements: { network, renderer: quickRenderer }
})
const { app, send } = service
const database = app.get('database')
const { owner } = database
const company = await service.company('audited')
const { companyId, admin } = company

/** What a request changes: who sends it, and which entry it leaves for which company. */
type Change = { by?: Login, send: (by: Login) => Promise<Answer>, action: string, company?: number }

const dispatched = async (more: Record<string, unknown>, query = ''): Promise<string> =>
  (await send('POST', `/api/invoicing${query}`, { body: invoiceRequest({}, more) }, admin)).body.dispatchId as string
const on = (dispatchId: string, verb: string, by: Login, body?: unknown): Promise<Answer> =>
  send('POST', `/api/v1/dispatches/${dispatchId}/${verb}`, body === undefined ? {} : { body }, by)
const user = () => ({ email: `${randomUUID()}@audited.example.com`, password: 'a good password' })
const idOf = async (login: Login): Promise<number> =>
  (await owner.selectFrom('users').select('user_id').where('email', '=', login.email).executeTakeFirstOrThrow()).user_id
const canary = 'canary-in-a-secret'
let letters = 0
const draft = async (by: Login): Promise<number> =>
  (await send('POST', '/api/v1/templates', { body: letter({ name: `Letter ${++letters}` }) }, by)).body.id as number
const contact = async (by: Login): Promise<string> =>
  (await send('POST', '/api/v1/contacts', { body: { name: 'Grace' } }, by)).body.id as string
const image = 'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='

const take = (version: string, by: Login): Promise<Answer> =>
  send('POST', '/api/v1/marketplace/packages', { body: { package: Buffer.from(packed({ code: 'acme', version })).toString('base64') } }, by)
const market = (verb: string, by: Login, body?: unknown): Promise<Answer> =>
  send('POST', `/api/v1/marketplace/acme/${verb}`, body === undefined ? {} : { body }, by)
const consent = { hosts: ['api.acme.test'], services: ['invoicing'] }
/** What an operator does about an adapter stands in the log of the platform. */
const byOperator = { by: operator, company: 1 }

const { body: key } = await send('POST', '/api/v1/keys', { body: { name: 'Shop', mode: 'live' } }, admin)

const propose = (by: Login): Promise<Answer> =>
  send('POST', '/api/v1/proposals', { body: { service: 'invoicing', request: invoiceRequest() } }, by)
const deviceCodes = async (): Promise<{ device_code: string, user_code: string }> =>
  (await send('POST', '/auth/device', { body: { client_id: 'dispatch' } }, null)).body as { device_code: string, user_code: string }
const deviceKey = { name: 'Command', mode: 'test' } as const

const setSignOn = (by: Login): Promise<Answer> =>
  send('PUT', '/api/v1/company/single-sign-on', { body: { issuer, clientId: 'x', clientSecret: canary } }, by)
async function setLinkMail (by: Login): Promise<Answer> {
  const settings = { allowedSenders: ['@acme.test'] }
  await send('PUT', '/api/v1/company/providers/simulator', { body: { settings } }, admin)
  return send('PUT', '/api/v1/link-mail', { body: { providerName: 'simulator', from: 'hello@acme.test' } }, by)
}
/** Single sign-on that knows a user of the company. */
async function known (by: Login, { email }: Login): Promise<void> {
  await setSignOn(by)
  await sql`insert into user_identities (company_id, user_id, issuer, subject, linked_at)
    select company_id, user_id, ${issuer}, ${email}, now() from users where email = ${email}`.execute(owner)
}
const guest = user()
const invite = (by: Login, email = `${randomUUID()}@audited.example.com`): Promise<Answer> =>
  send('POST', '/api/v1/company/invitations', { body: { email, role: 'member', services: [] } }, by)
const factor = '/api/v1/my/second-factor'
/** Users with an app for codes; the first has not confirmed it. */
const [beginner, regular, forgetful, robbed] = [user(), user(), user(), user()]
const secrets = new Map<Login, string>()
for (const login of [beginner, regular, forgetful, robbed]) {
  await send('POST', '/api/v1/users', { body: { ...login, role: 'member', services: [] } }, admin)
  secrets.set(login, (await send('POST', factor, {}, login)).body.secret as string)
}
const confirm = (by: Login): Promise<Answer> =>
  send('POST', `${factor}/confirm`, { body: { code: new TOTP({ secret: Secret.fromBase32(secrets.get(by) ?? '') }).generate() } }, by)
await confirm(forgetful)
const { body: { recoveryCodes: [totp] } } = await confirm(regular)
const { body: { data: { token } } } = await send('POST', '/auth', { body: { username: regular.email, password: regular.password, totp } },
  null)
const asRegular = (verb: string, body: object): Promise<Answer> =>
  send('POST', `${factor}/${verb}`, { body, headers: { authorization: `Bearer ${String(token)}` } }, null)

const endpoint = { name: 'A', url: 'https://audited.test/' }
/** An endpoint of its own for each change. */
async function endpointId (): Promise<string> {
  const id = randomUUIDv7()
  await owner.insertInto('callback_endpoints').values({
    endpoint_id: id,
    company_id: companyId,
    ...endpoint,
    types: null,
    enabled: true,
    secrets: '[]',
    created_at: new Date()
  }).execute()
  return id
}

/** Users with a passkey, the first one before they have it. */
const [keyless, keyed] = [user(), user()]
const passkeyOf = async (by: Login): Promise<Answer> => {
  const { body } = await send('POST', '/api/v1/my/passkeys/options', {}, by)
  const response = createAuthenticator('https://dispatch.example.com').create(body)
  return send('POST', '/api/v1/my/passkeys', { body: { name: 'Laptop', response } }, by)
}
for (const login of [keyless, keyed]) {
  await send('POST', '/api/v1/users', { body: { ...login, role: 'member', services: [] } }, admin)
}
const { body: { passkey, recoveryCodes: [code] } } = await passkeyOf(keyed)
const { body: { data: session } } = await send('POST', '/auth', {
  body: { username: keyed.email, password: keyed.password, totp: code }
}, null)
const asKeyed = (method: string, verb: string, body: object): Promise<Answer> =>
  send(method, `/api/v1/my/passkeys/${String(passkey.id)}${verb}`, { body, headers: { authorization: `Bearer ${String(session.token)}` } },
    null)

/** Connects a configuration, as a person does. */
async function connect (scope: string, by: Login): Promise<Answer> {
  const address = `/api/v1/${scope}/providers/books`
  await send('PUT', address, { body: { settings: { region: 'client' } } }, by)
  const { body: { url } } = await send('GET', `${address}/connect`, {}, by)
  const state = new URL(url as string).searchParams.get('state') ?? ''
  const { body: page } = await send('GET', `/api/connect/books/callback?code=canary-of-a-code&state=${state}`, {}, null)
  const [, confirmation] = /"confirmation": "([\w-]+)"/.exec(String(page)) ?? []
  return await send('POST', `${address}/connect`, { body: { confirmation } }, by)
}

/** A batch of one text message, which nobody works on. */
async function batched (by: Login): Promise<string> {
  const body = Buffer.from(`${JSON.stringify({ sms: { phoneNumber: '+33612345678', message: 'Hello' } })}\n`)
  return (await send('POST', '/api/v1/batches?service=sms', { body, headers: { 'content-type': 'application/x-ndjson' } }, by)).body.batchId
}
const onBatch = (id: string, action: string, by: Login): Promise<Answer> => send('POST', `/api/v1/batches/${id}/${action}`, {}, by)

/** An address to which nothing is sent. */
const suppressed = async (by: Login): Promise<string> =>
  (await send('POST', '/api/v1/suppressions', { body: { channel: 'email', address: `${randomUUID()}@example.com` } }, by)).body.id

/** A person of whom nothing is held, counted. */
const counted = (by: Login): Promise<Answer> =>
  send('POST', '/api/v1/privacy/erasures', { body: { reference: randomUUID(), countFirst: true } }, by)

/** A budget that is far away, in the place of the one before. */
async function budget (by: Login): Promise<Answer> {
  for (const { id } of (await send('GET', '/api/v1/budgets', {}, by)).body.data) await send('DELETE', `/api/v1/budgets/${id}`, {}, by)
  return send('POST', '/api/v1/budgets', { body: { scope: 'company', unit: 'credits', amount: 1_000_000, hardStop: false } }, by)
}
/** A platform of e-invoices. */
async function setPlatform (): Promise<void> {
  const settings = { url: 'https://flow.acme.test', tokenUrl: 'https://flow.acme.test/token', clientId: 'id', clientSecret: canary }
  await send('PUT', '/api/v1/company/providers/flow', { body: { settings } }, admin)
}

/** The one alert of a company. */
async function alert (by: Login): Promise<Answer> {
  for (const { id } of (await send('GET', '/api/v1/alerts', {}, by)).body.data) await send('DELETE', `/api/v1/alerts/${id}`, {}, by)
  return send('POST', '/api/v1/alerts', { body: watch }, by)
}
const watch = { name: canary, kind: 'doubt', minutes: 60, callback: true, chat: { format: 'slack', url: `https://a.acme.test/${canary}` } }
const alertId = async (by: Login): Promise<string> => (await alert(by)).body.id
const budgetId = async (by: Login): Promise<string> => (await budget(by)).body.id

const reporting = (by: Login): Promise<Answer> =>
  send('PUT', '/api/v1/e-reports/settings', {
    body: {
      siren: '732829320',
      name: 'Acme Tea',
      platform: { id: '0042', name: 'The platform' },
      regime: 'NORMAL_MONTHLY',
      providerName: 'simulator',
      usualNature: 'GOODS'
    }
  }, by)
async function reportId (by: Login): Promise<string> {
  await reporting(by)
  return (await send('POST', '/api/v1/e-reports', { body: { kind: 'transactions', day: '2026-03-14' } }, by)).body.id as string
}

const frenchInvoice = {
  number: 'F-212',
  date: '2026-03-14',
  dueDate: '2026-04-13',
  currency: 'EUR',
  seller: { name: 'Acme Tea', address: '1 rue A', city: 'Lyon', postalCode: '69001', country: 'FR', vatId: 'FR39732829320' },
  customer: { name: 'Ada Ltd', address: 'Calle 2', city: 'Madrid', postalCode: '28001', country: 'ES', vatId: 'ESX1234567X' },
  lines: [{ description: 'Tea', quantity: 2, unitPrice: '10.00', taxRate: 20 }]
}

/** A rule that asks for nothing but a batch, and a batch that waits for it. */
const rule = (by: Login): Promise<Answer> =>
  send('POST', '/api/v1/company/approval-rules', { body: { name: 'Lists', services: ['postal'], rowsAbove: 0 } }, by)
const ruleId = async (by: Login): Promise<string> => (await rule(by)).body.id
/** What the admin, or somebody else, has asked for. */
async function waiting (by: Login): Promise<string> {
  const { body: { id } } = await send('POST', '/api/v1/company/approval-rules', { body: { name: 'All', services: ['sms'] } }, admin)
  const { body: { approvalId } } = await send('POST', '/api/sms', {
    headers: { 'x-api-version': '1.1.0' },
    body: { providerName: 'simulator', sms: { phoneNumber: '+33612345678', message: 'Hello' } }
  }, by)
  await send('DELETE', `/api/v1/company/approval-rules/${String(id)}`, {}, admin)
  return approvalId
}

/** Every operation that changes something. */
const changes: Record<string, Change> = {
  'POST /api/v1/dispatches/{id}/retry': {
    send: async (by) =>
      on(await dispatched({ invoicing: { reference: 'reject' } }), 'retry', by, {
        invoicing: { documentType: 'INVOICE', reference: 'fine' }
      }),
    action: 'dispatch.retried'
  },
  'POST /api/v1/contacts': { send: (by) => send('POST', '/api/v1/contacts', { body: { name: canary } }, by), action: 'contact.created' },
  'PUT /api/v1/contacts/{id}': {
    send: async (by) => send('PUT', `/api/v1/contacts/${await contact(by)}`, { body: { name: 'Ada' } }, by),
    action: 'contact.changed'
  },
  'DELETE /api/v1/contacts/{id}': {
    send: async (by) => send('DELETE', `/api/v1/contacts/${await contact(by)}`, {}, by),
    action: 'contact.removed'
  },
  'PUT /api/v1/company/details': {
    send: (by) => send('PUT', '/api/v1/company/details', { body: { seller: { name: canary } } }, by),
    action: 'own-details.changed'
  },
  'POST /api/v1/dispatches/{id}/cancel': {
    send: async (by) => on(await dispatched({}, '?async=true'), 'cancel', by),
    action: 'dispatch.cancelled'
  },
  'POST /api/v1/dispatches/{id}/statuses': {
    async send (by) {
      const { dispatchId } = (await send('POST', '/api/invoicing', {
        body: { documentType: 'E_INVOICE', invoicing: { eInvoiceFormat: 'CII' }, template: { id: 4, data: frenchInvoice } }
      }, admin)).body
      return send('POST', `/api/v1/dispatches/${String(dispatchId)}/statuses`, { body: { code: '212' } }, by)
    },
    action: 'dispatch.status_said'
  },
  'POST /api/v1/e-invoices/received/{id}/statuses': {
    async send (by) {
      await setPlatform()
      const id = await receiveInvoice(service, companyId)
      return send('POST', `/api/v1/e-invoices/received/${id}/statuses`, { body: { code: '205', reason: canary } }, by)
    },
    action: 'received_invoice.answered'
  },
  'PUT /api/v1/e-invoices/receptions/{code}': {
    async send (by) {
      await setPlatform()
      return send('PUT', '/api/v1/e-invoices/receptions/flow', { body: { receives: true } }, by)
    },
    action: 'reception.changed'
  },
  'PUT /api/v1/dispatches/{id}/schedule': {
    async send (by) {
      const sendAt = new Date(Date.now() + 3_600_000).toISOString()
      const { body } = await send('POST', '/api/invoicing', {
        body: invoiceRequest({}, { sendAt }),
        headers: { 'x-api-version': '1.1.0' }
      }, admin)
      return send('PUT', `/api/v1/dispatches/${String(body.dispatchId)}/schedule`, { body: {} }, by)
    },
    action: 'dispatch.moved'
  },
  'POST /api/v1/dispatches/{id}/resolve': {
    send: async (by) =>
      on(await dispatched({ invoicing: { reference: 'uncertain' } }), 'resolve', by, { outcome: 'accepted', reason: 'Seen there.' }),
    action: 'dispatch.resolved'
  },
  'POST /api/v1/queue/holds/{id}/resolve': {
    by: operator,
    async send (by) {
      const dispatchId = await dispatched({ invoicing: { reference: 'uncertain' } })
      const { step_id: stepId } = await owner.selectFrom('steps').select('step_id').where('dispatch_id', '=', dispatchId)
        .executeTakeFirstOrThrow()
      return send('POST', `/api/v1/queue/holds/${stepId}/resolve`, { body: { outcome: 'accepted', reason: 'Seen there.' } }, by)
    },
    action: 'dispatch.resolved'
  },
  'POST /api/v1/suppressions': {
    send: (by) => send('POST', '/api/v1/suppressions', { body: { channel: 'email', address: `${randomUUID()}@example.com` } }, by),
    action: 'suppression.added'
  },
  'POST /api/v1/suppressions/import': {
    send: (by) =>
      send('POST', '/api/v1/suppressions/import', {
        body: { suppressions: [{ channel: 'email', address: `${randomUUID()}@example.com` }] }
      }, by),
    action: 'suppression.imported'
  },
  'DELETE /api/v1/suppressions/{id}': {
    send: async (by) => send('DELETE', `/api/v1/suppressions/${await suppressed(by)}?why=test`, {}, by),
    action: 'suppression.removed'
  },
  'POST /api/v1/privacy/erasures': { send: counted, action: 'erasure.counted' },
  'POST /api/v1/privacy/erasures/{id}/begin': {
    async send (by) {
      const { body: { id } } = await counted(by)
      await sql`update erasures set status = 'counted', next_at = null where erasure_id = ${id}`.execute(owner)
      return send('POST', `/api/v1/privacy/erasures/${String(id)}/begin`, {}, by)
    },
    action: 'erasure.started'
  },
  'POST /api/v1/privacy/exports': {
    send: (by) => send('POST', '/api/v1/privacy/exports', { body: { reference: 'C-1042' } }, by),
    action: 'person.exported'
  },
  'PUT /api/v1/company/retention': {
    send: (by) => send('PUT', '/api/v1/company/retention', { body: { days: 30 } }, by),
    action: 'retention.changed'
  },
  'POST /api/v1/company/approval-rules': { send: rule, action: 'approval_rule.added' },
  'PUT /api/v1/company/approval-rules/{id}': {
    send: async (by) => send('PUT', `/api/v1/company/approval-rules/${await ruleId(by)}`, { body: { name: 'None', rowsAbove: 999 } }, by),
    action: 'approval_rule.changed'
  },
  'DELETE /api/v1/company/approval-rules/{id}': {
    send: async (by) => send('DELETE', `/api/v1/company/approval-rules/${await ruleId(by)}`, {}, by),
    action: 'approval_rule.removed'
  },
  'POST /api/v1/approvals/{id}/approve': {
    async send (by) {
      const path = `/api/v1/approvals/${await waiting(company.member)}`
      const { body: { review: { seen } } } = await send('GET', path, {}, by)
      return send('POST', `${path}/approve`, { body: { seen } }, by)
    },
    action: 'approval.approved'
  },
  'POST /api/v1/approvals/{id}/refuse': {
    send: async (by) => send('POST', `/api/v1/approvals/${await waiting(company.member)}/refuse`, { body: { reason: 'No.' } }, by),
    action: 'approval.refused'
  },
  'POST /api/v1/approvals/{id}/withdraw': {
    send: async (by) => send('POST', `/api/v1/approvals/${await waiting(by)}/withdraw`, {}, by),
    action: 'approval.withdrawn'
  },
  'PUT /api/v1/e-reports/settings': { send: reporting, action: 'e_report.settings_changed' },
  'POST /api/v1/e-reports/{id}/send': {
    async send (by) {
      await send('POST', '/api/invoicing', {
        body: { documentType: 'INVOICE', providerName: 'simulator', template: { id: 4, data: { ...frenchInvoice, number: 'F-10' } } },
        headers: { 'x-api-version': '1.1.0' }
      }, by)
      return send('POST', `/api/v1/e-reports/${await reportId(by)}/send`, {}, by)
    },
    action: 'e_report.sent'
  },
  'DELETE /api/v1/e-reports/{id}': {
    send: async (by) => send('DELETE', `/api/v1/e-reports/${await reportId(by)}`, {}, by),
    action: 'e_report.removed'
  },
  'PUT /api/v1/usage/prices': {
    send: (by) => send('PUT', '/api/v1/usage/prices', { body: { currency: 'EUR', prices: [{ unit: 'credit', amount: '0.10' }] } }, by),
    action: 'usage_prices.changed'
  },
  'POST /api/v1/budgets': { send: budget, action: 'budget.added' },
  'PUT /api/v1/budgets/{id}': {
    send: async (by) => send('PUT', `/api/v1/budgets/${await budgetId(by)}`, { body: { amount: 2_000_000, hardStop: false } }, by),
    action: 'budget.changed'
  },
  'DELETE /api/v1/budgets/{id}': {
    send: async (by) => send('DELETE', `/api/v1/budgets/${await budgetId(by)}`, {}, by),
    action: 'budget.removed'
  },
  'POST /api/v1/alerts': { send: alert, action: 'alert.added' },
  'PUT /api/v1/alerts/{id}': {
    send: async (by) => send('PUT', `/api/v1/alerts/${await alertId(by)}`, { body: watch }, by),
    action: 'alert.changed'
  },
  'DELETE /api/v1/alerts/{id}': {
    send: async (by) => send('DELETE', `/api/v1/alerts/${await alertId(by)}`, {}, by),
    action: 'alert.removed'
  },
  'POST /api/v1/alerts/{id}/try': {
    send: async (by) => send('POST', `/api/v1/alerts/${await alertId(by)}/try`, {}, by),
    action: 'alert.tried'
  },
  'PUT /api/v1/suppressions/templates/{id}': {
    send: (by) => send('PUT', '/api/v1/suppressions/templates/1', { body: { reasons: ['manual'] } }, by),
    action: 'suppression.transactional'
  },
  'POST /api/v1/batches/{id}/pause': { send: async (by) => onBatch(await batched(by), 'pause', by), action: 'batch.paused' },
  'POST /api/v1/batches/{id}/resume': {
    async send (by) {
      const id = await batched(by)
      await onBatch(id, 'pause', by)
      return onBatch(id, 'resume', by)
    },
    action: 'batch.resumed'
  },
  'POST /api/v1/batches/{id}/cancel': { send: async (by) => onBatch(await batched(by), 'cancel', by), action: 'batch.cancelled' },
  'POST /api/v1/batches/{id}/retry': {
    async send (by) {
      const id = await batched(by)
      await sql`update batches set status = 'finished', unchecked = 0, failed = 1 where batch_id = ${id}`.execute(owner)
      await sql`update batch_rows set state = 'failed' where batch_id = ${id}`.execute(owner)
      return onBatch(id, 'retry', by)
    },
    action: 'batch.retried'
  },
  'POST /api/v1/queue/release': {
    async send (by) {
      const dispatchId = await dispatched({}, '?async=true')
      await owner.updateTable('dispatches').set({ next_try_at: new Date(Date.now() + 3_600_000) }).where('dispatch_id', '=', dispatchId)
        .execute()
      await owner.updateTable('steps').set({ status: 'unavailable' }).where('dispatch_id', '=', dispatchId).execute()
      return send('POST', '/api/v1/queue/release', { body: {} }, by)
    },
    action: 'queue.released'
  },
  'POST /api/v1/callbacks/{id}/replay': {
    async send (by) {
      const dispatchId = await dispatched({})
      const callback = {
        companyId,
        dispatchId,
        type: 'dispatch.succeeded',
        url: 'https://audited.test/',
        data: {},
        now: new Date(),
        due: app.get('database').now,
        newId: randomUUIDv7
      } as const
      const id = await owner.transaction().execute((queries) => noteCallback(queries, callback))
      return send('POST', `/api/v1/callbacks/${id}/replay`, {}, by)
    },
    action: 'callback.replayed'
  },
  'POST /api/v1/company/callback-secret': {
    send: (by) => send('POST', '/api/v1/company/callback-secret', {}, by),
    action: 'callback-secret.rotated'
  },
  'POST /api/v1/company/callback-endpoints': {
    send: (by) => send('POST', '/api/v1/company/callback-endpoints', { body: endpoint }, by),
    action: 'callback-endpoint.created'
  },
  'PUT /api/v1/company/callback-endpoints/{id}': {
    send: async (by) => send('PUT', `/api/v1/company/callback-endpoints/${await endpointId()}`, { body: { name: 'B' } }, by),
    action: 'callback-endpoint.changed'
  },
  'DELETE /api/v1/company/callback-endpoints/{id}': {
    send: async (by) => send('DELETE', `/api/v1/company/callback-endpoints/${await endpointId()}`, {}, by),
    action: 'callback-endpoint.removed'
  },
  'POST /api/v1/company/callback-endpoints/{id}/secret': {
    send: async (by) => send('POST', `/api/v1/company/callback-endpoints/${await endpointId()}/secret`, {}, by),
    action: 'callback-endpoint.secret-rotated'
  },
  'POST /api/v1/company/callback-endpoints/{id}/test': {
    send: async (by) => send('POST', `/api/v1/company/callback-endpoints/${await endpointId()}/test`, {}, by),
    action: 'callback-endpoint.tested'
  },
  'POST /api/v1/company/callback-endpoints/{id}/resend': {
    async send (by) {
      const [id, dispatchId] = [await endpointId(), await dispatched({})]
      await sql`insert into outbox (callback_id, company_id, endpoint_id, dispatch_id, type, sequence, receiver, body, state,
        created_at) values (${randomUUIDv7()}, ${companyId}, ${id}, ${dispatchId}, 'dispatch.failed', 1, '', '{}', 'failed', now())`
        .execute(owner)
      return send('POST', `/api/v1/company/callback-endpoints/${id}/resend`, { body: { since: '2026-01-01T00:00:00.000Z' } }, by)
    },
    action: 'callback-endpoint.resent'
  },
  'PUT /api/v1/company': { send: (by) => send('PUT', '/api/v1/company', { body: { lowCredit: 1 } }, by), action: 'settings.changed' },
  'PUT /api/v1/company/defaults/{service}': {
    send: (by) => send('PUT', '/api/v1/company/defaults/sms', { body: { providerName: 'simulator' } }, by),
    action: 'choice.changed'
  },
  'PUT /api/v1/company/providers/{code}': {
    send: (by) => send('PUT', '/api/v1/company/providers/sample', { body: { settings: { region: 'north', token: canary } } }, by),
    action: 'configuration.changed'
  },
  'POST /api/v1/company/providers/{code}/check': {
    send: (by) => send('POST', '/api/v1/company/providers/sample/check', {}, by),
    action: 'configuration.checked'
  },
  ...Object.fromEntries(['company', 'my'].flatMap((scope): [string, Change][] => [
    [`POST /api/v1/${scope}/providers/{code}/connect`, { send: (by) => connect(scope, by), action: 'connection.made' }],
    [`DELETE /api/v1/${scope}/providers/{code}/connect`, {
      send: (by) => send('DELETE', `/api/v1/${scope}/providers/books/connect`, {}, by),
      action: 'connection.removed'
    }]
  ])),
  'DELETE /api/v1/company/providers/{code}': {
    send: (by) => send('DELETE', '/api/v1/company/providers/sample', {}, by),
    action: 'configuration.removed'
  },
  'PUT /api/v1/my/config/{service}': {
    send: (by) => send('PUT', '/api/v1/my/config/sms', { body: { providerName: 'simulator' } }, by),
    action: 'choice.changed'
  },
  'PUT /api/v1/my/providers/{code}': {
    send: (by) => send('PUT', '/api/v1/my/providers/sample', { body: { settings: { region: 'north', token: canary } } }, by),
    action: 'configuration.changed'
  },
  'DELETE /api/v1/my/providers/{code}': {
    send: (by) => send('DELETE', '/api/v1/my/providers/sample', {}, by),
    action: 'configuration.removed'
  },
  'PUT /api/v1/my/password': {
    by: company.member,
    send: (by) => send('PUT', '/api/v1/my/password', { body: { current: by.password, password: canary } }, by),
    action: 'password.changed'
  },
  'POST /api/v1/users': {
    send: (by) => send('POST', '/api/v1/users', { body: { ...user(), password: canary, role: 'member', services: [] } }, by),
    action: 'user.created'
  },
  'PUT /api/v1/users/{id}': {
    send: async (by) => send('PUT', `/api/v1/users/${await idOf(company.member)}`, { body: { password: `another ${canary}` } }, by),
    action: 'user.changed'
  },
  'POST /api/v1/companies': {
    by: operator,
    send: (by) => send('POST', '/api/v1/companies', { body: { name: 'Another', credits: 1, admin: { ...user(), password: canary } } }, by),
    action: 'company.created',
    company: companyId + 1
  },
  'POST /api/v1/companies/{id}/deletion': {
    ...byOperator,
    async send (by) {
      const name = `leaving-${randomUUID()}`
      const { companyId: id } = await service.company(name)
      await send('PUT', `/api/v1/companies/${id}`, { body: { disabled: true } }, by)
      return send('POST', `/api/v1/companies/${id}/deletion`, { body: { name } }, by)
    },
    action: 'company.deletion_started'
  },
  'PUT /api/v1/companies/{id}': {
    by: operator,
    send: (by) => send('PUT', `/api/v1/companies/${companyId}`, { body: { name: 'Audited' } }, by),
    action: 'company.changed'
  },
  'PUT /api/v1/companies/{id}/domains': {
    by: operator,
    send: (by) => send('PUT', `/api/v1/companies/${companyId}/domains`, { body: { domains: ['claimed.example.com'] } }, by),
    action: 'company-domains.changed'
  },
  'POST /api/v1/companies/{id}/credits': {
    by: operator,
    send: (by) => send('POST', `/api/v1/companies/${companyId}/credits`, { body: { amount: 5, reason: 'Test' } }, by),
    action: 'credits.granted'
  },
  'POST /api/v1/templates': {
    send: (by) => send('POST', '/api/v1/templates', { body: letter({ name: 'Letter' }) }, by),
    action: 'template.created'
  },
  'PUT /api/v1/templates/{id}': {
    send: async (by) =>
      send('PUT', `/api/v1/templates/${await draft(by)}`, { body: { baseVersion: 1, ...letter({ name: `Letter ${letters}` }) } }, by),
    action: 'template.changed'
  },
  'POST /api/v1/templates/{id}/publish': {
    send: async (by) => send('POST', `/api/v1/templates/${await draft(by)}/publish`, { body: { version: 1 } }, by),
    action: 'template.published'
  },
  'DELETE /api/v1/templates/{id}': {
    send: async (by) => send('DELETE', `/api/v1/templates/${await draft(by)}`, {}, by),
    action: 'template.deleted'
  },
  'POST /api/v1/assets': { send: (by) => send('POST', '/api/v1/assets', { body: { name: 'logo', image } }, by), action: 'asset.created' },
  'PUT /api/v1/assets/{name}': { send: (by) => send('PUT', '/api/v1/assets/logo', { body: { image } }, by), action: 'asset.replaced' },
  'PUT /api/v1/partials/{name}': {
    send: (by) => send('PUT', '/api/v1/partials/terms', { body: { kind: 'partial', source: 'blocks: [{ paragraph: Hello }]' } }, by),
    action: 'partial.changed'
  },
  'DELETE /api/v1/partials/{name}': { send: (by) => send('DELETE', '/api/v1/partials/terms', {}, by), action: 'partial.deleted' },
  'PUT /api/v1/company/brand': {
    send: (by) => send('PUT', '/api/v1/company/brand', { body: { accent: '#004d40' } }, by),
    action: 'brand.changed'
  },
  'DELETE /api/v1/assets/{name}': { send: (by) => send('DELETE', '/api/v1/assets/logo', {}, by), action: 'asset.deleted' },
  'POST /api/v1/proposals/{id}/send': {
    async send (by) {
      const { body: { id } } = await propose(by)
      const { body: { review: { seen } } } = await send('GET', `/api/v1/proposals/${String(id)}`, {}, by)
      return send('POST', `/api/v1/proposals/${String(id)}/send`, { body: { seen } }, by)
    },
    action: 'proposal.sent'
  },
  'POST /api/v1/proposals/{id}/decline': {
    send: async (by) => send('POST', `/api/v1/proposals/${String((await propose(by)).body.id)}/decline`, {}, by),
    action: 'proposal.declined'
  },
  'POST /api/v1/keys': { send: (by) => send('POST', '/api/v1/keys', { body: { name: 'Shop', mode: 'live' } }, by), action: 'key.created' },
  'DELETE /api/v1/keys/{id}': { send: (by) => send('DELETE', `/api/v1/keys/${String(key.id)}`, {}, by), action: 'key.revoked' },
  'DELETE /api/v1/my/sessions/{id}': {
    async send (by) {
      await app.get('sessions').open(by.email, by.password, { address: '192.0.2.1', browser: 'test' })
      const { body: { data: [{ id }] } } = await send('GET', '/api/v1/my/sessions', {}, by)
      return send('DELETE', `/api/v1/my/sessions/${String(id)}`, {}, by)
    },
    action: 'session.ended'
  },
  'PUT /api/v1/company/single-sign-on': { send: (by) => setSignOn(by), action: 'single-sign-on.changed' },
  'DELETE /api/v1/company/single-sign-on': {
    async send (by) {
      await setSignOn(by)
      return send('DELETE', '/api/v1/company/single-sign-on', {}, by)
    },
    action: 'single-sign-on.removed'
  },
  'DELETE /api/v1/users/{id}/single-sign-on': {
    async send (by) {
      await known(by, company.member)
      return send('DELETE', `/api/v1/users/${await idOf(company.member)}/single-sign-on`, {}, by)
    },
    action: 'identity.unlinked'
  },
  'POST /api/v1/my/single-sign-on/unlink': {
    async send (by) {
      await known(by, by)
      return send('POST', '/api/v1/my/single-sign-on/unlink', { body: { password: by.password } }, by)
    },
    action: 'identity.unlinked'
  },
  'POST /api/v1/company/invitations': { send: (by) => invite(by), action: 'invitation.created' },
  'POST /api/v1/company/invitations/{id}/renew': {
    send: async (by) => send('POST', `/api/v1/company/invitations/${String((await invite(by)).body.id)}/renew`, {}, by),
    action: 'invitation.renewed'
  },
  'DELETE /api/v1/company/invitations/{id}': {
    send: async (by) => send('DELETE', `/api/v1/company/invitations/${String((await invite(by)).body.id)}`, {}, by),
    action: 'invitation.withdrawn'
  },
  'POST /api/v1/users/{id}/password-link': {
    send: async (by) => send('POST', `/api/v1/users/${await idOf(company.member)}/password-link`, {}, by),
    action: 'password-link.created'
  },
  'PUT /api/v1/link-mail': { by: company.operator, send: (by) => setLinkMail(by), action: 'link-mail.changed' },
  'DELETE /api/v1/link-mail': {
    by: company.operator,
    async send (by) {
      await setLinkMail(by)
      return send('DELETE', '/api/v1/link-mail', {}, by)
    },
    action: 'link-mail.removed'
  },
  'POST /auth/device/token': {
    async send (by) {
      const { device_code: code, user_code: userCode } = await deviceCodes()
      await send('POST', '/api/v1/device-logins/grant', { body: { userCode, ...deviceKey } }, by)
      const body = { grant_type: 'urn:ietf:params:oauth:grant-type:device_code', device_code: code }
      return send('POST', '/auth/device/token', { body }, null)
    },
    action: 'key.created'
  },
  'POST /api/v1/device-logins/grant': {
    send: async (by) =>
      send('POST', '/api/v1/device-logins/grant', { body: { userCode: (await deviceCodes()).user_code, ...deviceKey } }, by),
    action: 'device-login.granted'
  },
  'POST /api/v1/device-logins/decline': {
    send: async (by) => send('POST', '/api/v1/device-logins/decline', { body: { userCode: (await deviceCodes()).user_code } }, by),
    action: 'device-login.declined'
  },
  'POST /auth/links/use': {
    by: guest,
    async send ({ email, password }) {
      const { body: { token } } = await invite(admin, email)
      return send('POST', '/auth/links/use', { body: { token, password } }, null)
    },
    action: 'invitation.accepted'
  },
  'POST /api/v1/my/second-factor/confirm': {
    by: beginner,
    send: (by) => confirm(by),
    action: 'second_factor.set'
  },
  'POST /api/v1/my/second-factor/recovery-codes': {
    by: regular,
    send: () => asRegular('recovery-codes', { password: regular.password }),
    action: 'recovery_codes.replaced'
  },
  'POST /api/v1/users/{id}/reset': {
    send: async (by) => send('POST', `/api/v1/users/${await idOf(robbed)}/reset`, {}, by),
    action: 'access.reset'
  },
  'DELETE /api/v1/users/{id}/second-factor': {
    send: async (by) => send('DELETE', `/api/v1/users/${await idOf(forgetful)}/second-factor`, {}, by),
    action: 'second_factor.reset'
  },
  'POST /api/v1/my/second-factor/remove': {
    by: regular,
    send: () => asRegular('remove', { password: regular.password }),
    action: 'second_factor.removed'
  },
  'POST /api/v1/my/passkeys': { by: keyless, send: (by) => passkeyOf(by), action: 'passkey.added' },
  'PUT /api/v1/my/passkeys/{id}': { by: keyed, send: () => asKeyed('PUT', '', { name: 'Phone' }), action: 'passkey.renamed' },
  'POST /api/v1/my/passkeys/{id}/remove': {
    by: keyed,
    send: () => asKeyed('POST', '/remove', { password: keyed.password }),
    action: 'passkey.removed'
  },
  'POST /auth/impersonate': {
    by: operator,
    send: async (by) => send('POST', '/auth/impersonate', { body: { userId: await idOf(admin) } }, by),
    action: 'user.impersonated'
  },
  'PUT /api/v1/providers/{code}/publisher': {
    by: operator,
    send: (by) => send('PUT', '/api/v1/providers/sample/publisher', { body: { packageName: 'sample' } }, by),
    action: 'provider.publisher_changed',
    company: 1
  },
  'POST /api/v1/providers/reload': {
    by: operator,
    send: (by) => send('POST', '/api/v1/providers/reload', {}, by),
    action: 'providers.reloaded',
    company: 1
  },
  'PUT /api/v1/oauth-apps/{code}': {
    ...byOperator,
    send: (by) => send('PUT', '/api/v1/oauth-apps/common', { body: { clientId: 'x', clientSecret: canary } }, by),
    action: 'oauth-app.changed'
  },
  'DELETE /api/v1/oauth-apps/{code}': {
    ...byOperator,
    send: (by) => send('DELETE', '/api/v1/oauth-apps/common', {}, by),
    action: 'oauth-app.removed'
  },
  'POST /api/v1/marketplace/packages': { ...byOperator, send: (by) => take('1.0.0', by), action: 'adapter.package_added' },
  'POST /api/v1/marketplace/{code}/install': {
    ...byOperator,
    send: (by) => market('install', by, { consent }),
    action: 'adapter.installed'
  },
  'POST /api/v1/marketplace/{code}/upgrade': {
    ...byOperator,
    async send (by) {
      await take('1.1.0', by)
      return market('upgrade', by, { version: '1.1.0', consent })
    },
    action: 'adapter.upgraded'
  },
  'POST /api/v1/marketplace/{code}/rollback': { ...byOperator, send: (by) => market('rollback', by), action: 'adapter.rolled_back' },
  'POST /api/v1/marketplace/{code}/disable': { ...byOperator, send: (by) => market('disable', by), action: 'adapter.disabled' },
  'POST /api/v1/marketplace/{code}/enable': { ...byOperator, send: (by) => market('enable', by), action: 'adapter.enabled' },
  'PUT /api/v1/marketplace/{code}/offer': {
    ...byOperator,
    send: (by) => send('PUT', '/api/v1/marketplace/acme/offer', { body: { companies: [1] } }, by),
    action: 'adapter.offered'
  },
  'DELETE /api/v1/marketplace/{code}': {
    ...byOperator,
    send: (by) => send('DELETE', '/api/v1/marketplace/acme', {}, by),
    action: 'adapter.removed'
  }
}

/** What changes nothing that a person decides, or has a record of its own. */
const exceptions: Record<string, string> = {
  'POST /api/v1/company/providers/{code}/suggestions': 'Reads what the vendor has, and stores nothing.',
  'POST /api/v1/my/providers/{code}/suggestions': 'Reads what the vendor has, and stores nothing.',
  'POST /api/v1/company/providers/{code}/dry-run': 'Shows what would be sent, and stores nothing.',
  'POST /api/v1/company/brand/preview': 'Shows a document, and stores nothing.',
  'POST /api/v1/templates/preview': 'Shows a document, and stores nothing.',
  'POST /api/v1/templates/{id}/preview': 'Shows a document, and stores nothing.',
  'POST /api/v1/templates/{id}/e-invoices': 'Shows XML, and stores nothing.',
  'POST /api/v1/marketplace/refresh': 'Reads what others publish; what they revoke has its own entries.',
  'POST /auth/password-links': 'Whoever asks is nobody yet; a link that is mailed has an entry of its own (link-mail.test.ts).',
  'POST /auth/device': 'Nobody is known yet: who grants it a key stands in the log.',
  'POST /api/v1/device-logins/read': 'Tells what waits for a code, and leaves nothing.',
  'POST /auth/links/read': 'Tells what a link is for, and leaves nothing.',
  'POST /api/v1/my/second-factor': 'Makes a secret that counts for nothing before a code confirms it.',
  'POST /api/v1/my/passkeys/options': 'Makes a challenge that nobody else can answer.',
  'POST /auth': 'Reads the account, and leaves nothing.',
  'POST /api/webhooks/{service}/providers/{provider}/endpoint.json':
    'A vendor speaks: what it says stands in the timeline of the dispatch.',
  'POST /api/v1/batches': 'Takes in dispatches, which stand in the list of batches with who has sent them.',
  'POST /unsubscribe': 'A recipient speaks, who is nobody\'s user: the suppression says so.',
  'POST /api/v1/files': 'Keeps a file for a day; the dispatch that uses it is a record of its own.',
  'DELETE /api/v1/files/{id}': 'Takes a file away that would go by itself.',
  'POST /api/v1/e-invoices/read': 'Reads a file, and stores nothing.',
  'POST /api/v1/e-reports': 'Makes a draft: who sends it stands in the log.',
  'POST /api/v1/drafts': 'Keeps what somebody writes, for themselves: nobody is sent anything.',
  'PUT /api/v1/drafts/{id}': 'The same, again and again while they type.',
  'DELETE /api/v1/drafts/{id}': 'Takes their own draft away, of which the log has never told.',
  'POST /api/v1/proposals': 'Sends nothing: who sends or declines it stands in the log.',
  'POST /api/v1/simulator/events': 'Development only: makes the simulator speak as a vendor.'
}
/** A dispatch is its own record, with who asked for it and a timeline; a validation changes nothing. */
const isDispatching = (operation: string): boolean => /^POST \/api\/(?!v1\/|webhooks\/)/.test(operation)

type Entry = {
  companyId: number
  userId: number | null
  action: string
  address: string | null
  requestId: string | null
  kind: string
  facts: Record<string, unknown>
  transaction: string
}
const entriesAfter = async (id: string): Promise<Entry[]> =>
  (await sql<Entry>`
  select company_id as "companyId", user_id as "userId", action, address, request_id as "requestId", object_kind as kind, facts, xmin::text
    as transaction from audit where audit_id > ${id} order by audit_id`.execute(owner)).rows
const lastEntry = async (): Promise<string> =>
  (await owner.selectFrom('audit').select('audit_id').orderBy('audit_id', 'desc').limit(1).executeTakeFirst())?.audit_id ?? '0'

/** What changes no row of the database: there is nothing that the entry could be without. */
const rowless = ['user.impersonated', 'providers.reloaded', 'configuration.checked', 'callback-endpoint.tested', 'person.exported']
/** What leaves no other row than its entry, because it takes one away. */
const removing = ['single-sign-on.removed', 'link-mail.removed', 'invitation.withdrawn', 'asset.deleted', 'partial.deleted',
  'session.ended', 'adapter.removed', 'contact.removed', 'connection.removed', 'oauth-app.removed', 'suppression.removed', 'budget.removed',
  'approval_rule.removed', 'alert.removed', 'e_report.removed']
/** What later transactions write into the same rows: the dispatch that is the record of a report, what comes of an answer. */
const rewritten = ['e_report.sent', 'received_invoice.answered']

/** The tables with rows that a transaction has written, but for the audit log. */
async function writtenBy (transaction: string): Promise<string[]> {
  const tables = (await tablesOf(app)).filter(({ name }) => name !== 'audit')
  const found = tables.map(({ name }) =>
    sql`select ${name} as name where exists (select from ${sql.table(name)} where xmin::text = ${transaction})`
  )
  return (await sql<{ name: string }>`${sql.join(found, sql` union all `)}`.execute(owner)).rows.map(({ name }) => name)
}

await t.test('every operation that changes something leaves its entry in the same transaction, or is a reasoned exception', async (t) => {
  const { body: document } = await send('GET', '/openapi.json')
  const operations = operationsOf(document).map(({ method, path }) => `${method} ${path}`)
  const mutating = operations.filter((operation) => !operation.startsWith('GET ') && !isDispatching(operation))
  t.strictSame(mutating.sort(), [...Object.keys(changes), ...Object.keys(exceptions)].sort())
  for (const [operation, { by = admin, send: change, action, company = companyId }] of Object.entries(changes)) {
    const before = await lastEntry()
    const { status, headers } = await change(by)
    t.ok(status < 300, `${operation} is ${status}`)
    const entries = (await entriesAfter(before)).filter(({ requestId }) => requestId === headers.get('x-request-id'))
    has(t, entries, [{ companyId: company, userId: await idOf(by), action, address: '127.0.0.1' }], operation)
    if (![...rowless, ...removing, ...rewritten].includes(action)) {
      t.not((await writtenBy(entries[0]?.transaction ?? '')).length, 0, `${operation}: what it changed is in the transaction of its entry`)
    }
  }
})

await t.test('no secret is in it, only the names of what was changed', async (t) => {
  const { rows } = await sql<{ row: string }>`select to_jsonb(audit)::text as row from audit`.execute(owner)
  lacks(t, rows.map(({ row }) => row).join('\n'), /canary|argon|password":|whsec/)
  const { body } = await send('GET', '/api/v1/audit?action=configuration.changed&object=configuration/sample', {}, admin)
  has(t, body.data, [
    { object: { kind: 'configuration', id: 'sample' }, facts: { fields: ['region', 'token'], ofUser: Number } },
    { facts: { fields: ['region', 'token'] } }
  ])
  t.notOk('ofUser' in body.data[1].facts)
  has(t, (await send('GET', '/api/v1/audit?action=user.changed', {}, admin)).body.data, [{ facts: { fields: ['password'] } }])
})

await t.test('what is refused leaves none', async (t) => {
  const before = await lastEntry()
  const self = await idOf(admin)
  isError(t, await send('PUT', `/api/v1/users/${self}`, { body: { role: 'operator' } }, admin), 'forbidden')
  isError(t, await send('POST', '/api/v1/users', { body: { ...user(), email: admin.email, role: 'member', services: [] } }, admin),
    'conflict')
  isError(t, await send('PUT', '/api/v1/company', { body: { addresses: ['192.0.2.1'] } }, admin), 'validation_failed')
  isError(t, await send('PUT', '/api/v1/company/providers/sample', { body: { settings: { region: 5 } } }, admin), 'validation_failed')
  isError(t, await send('POST', `/api/v1/companies/${companyId}/credits`, { body: { amount: -1_000_000, reason: 'All' } }, operator),
    'conflict')
  isError(t, await on(await dispatched({}), 'cancel', admin), 'conflict')
  isError(t, await send('PUT', '/api/v1/my/password', { body: { current: 'not it', password: 'a good password' } }, admin), 'forbidden')
  isError(t, await send('DELETE', '/api/v1/my/providers/sample', {}, admin), 'not_found')
  t.strictSame(await entriesAfter(before), [])
})

await t.test('what cannot be noted is not done', async (t) => {
  const stored = async (): Promise<unknown> => ({
    assets: await tablesIn(owner).selectFrom('assets').select('name').execute(),
    configurations: await owner.selectFrom('configurations').select('account').execute()
  })
  await send('POST', '/api/v1/assets', { body: { name: 'kept', image } }, admin)
  await send('PUT', '/api/v1/company/providers/sample', { body: { settings: { region: 'north', token: canary } } }, admin)
  const before = await stored()
  await sql`create trigger audit_is_full before insert on audit for each statement execute function refuse_change()`.execute(owner)
  for (const path of ['/api/v1/assets/kept', '/api/v1/company/providers/sample']) {
    t.equal((await send('DELETE', path, {}, admin)).status, 500, path)
  }
  await sql`drop trigger audit_is_full on audit`.execute(owner)
  t.strictSame(await stored(), before)
})

await t.test('nobody changes what is written: neither a company\'s role nor the owner of the tables', async (t) => {
  for (const change of ['update audit set action = \'nothing\'', 'delete from audit', 'truncate audit']) {
    await t.rejects(database.company(companyId, (queries) => sql.raw(change).execute(queries)), { message: /permission denied/ },
      `as a company: ${change}`)
    await t.rejects(sql.raw(change).execute(owner), { message: 'audit is append-only' }, `as the owner: ${change}`)
  }
  await t.rejects(sql`delete from companies where company_id = ${companyId}`.execute(owner), 'nor with what they are about')
})

await t.test('a company sees its own entries, and writes none for another', async (t) => {
  const [one, other] = [await service.company('one'), await service.company('other')]
  for (const { admin } of [one, other]) await send('PUT', '/api/v1/company', { body: { lowCredit: 3 } }, admin)
  const seen = await database.company(one.companyId, (queries) => queries.selectFrom('audit').select('company_id').distinct().execute())
  t.strictSame(seen, [{ company_id: one.companyId }], 'without any predicate')
  const forged = {
    author: { userId: 1, companyId: 1, address: '192.0.2.1', requestId: 'r' },
    action: 'credits.granted',
    object: { kind: 'credits', id: '1' },
    at: new Date()
  }
  await t.rejects(database.company(one.companyId, (queries) => noteAudit(queries, { companyId: other.companyId, ...forged })), {
    message: /row-level security/
  })

  const list = (login: Login, query = ''): Promise<Answer> => send('GET', `/api/v1/audit${query}`, {}, login)
  has(t, (await list(one.admin)).body.data, [{ action: 'settings.changed', object: { kind: 'company', id: String(one.companyId) } }])
  isError(t, await list(one.admin, `?companyId=${other.companyId}`), 'not_found')
  isError(t, await list(one.admin, '?companyId=2147483647'), 'not_found', 'one that is not there says the same')
  isError(t, await list(one.member), 'forbidden')
  t.equal((await list(one.admin, `?companyId=${one.companyId}`)).body.data.length, 1)
  has(t, (await list(operator, `?companyId=${other.companyId}`)).body.data, [{
    action: 'settings.changed',
    object: { id: String(other.companyId) }
  }])
  t.ok((await list(operator)).body.data.every(({ author }: { author: { companyId: number } }) => author.companyId === 1),
    'an operator\'s own is the platform\'s')
})

await t.test('an admin reads what an operator has done to the company, and not from where', async (t) => {
  const { companyId, admin } = await service.company('granted')
  await send('POST', `/api/v1/companies/${companyId}/credits`, { body: { amount: 5, reason: 'Order 4711' } }, operator)
  const { data: [entry] } = (await send('GET', '/api/v1/audit', {}, admin)).body
  has(t, entry, {
    action: 'credits.granted',
    author: { userId: 1, companyId: 1 },
    facts: { amount: 5, balance: 105, reason: 'Order 4711' }
  })
  t.notOk('address' in entry)
  has(t, (await send('GET', `/api/v1/audit?companyId=${companyId}`, {}, operator)).body.data, [{ address: '127.0.0.1' }])
})

await t.test('entries are found by what, who, which and when, page by page, the newest first', async (t) => {
  const { companyId, admin } = await service.company('searched')
  const first = (await send('POST', '/api/v1/users', { body: { ...user(), role: 'member', services: [] } }, admin)).body.id as number
  const second = (await send('POST', '/api/v1/users', { body: { ...user(), role: 'member', services: [] } }, admin)).body.id as number
  for (const id of [first, second, second]) await send('PUT', `/api/v1/users/${id}`, { body: { services: ['sms'] } }, admin)
  const impersonated = {
    author: { userId: second, companyId, impersonatorId: first, keyId: 'key-1', address: '192.0.2.9', requestId: 'r' },
    action: 'settings.changed',
    object: { kind: 'company', id: String(companyId) }
  }
  await database.company(companyId, (queries) => noteAudit(queries, { companyId, ...impersonated, at: new Date('2020-01-01T00:00:00Z') }))
  await database.company(companyId, (queries) =>
    noteAudit(queries, {
      companyId,
      author: null,
      action: 'user.created',
      object: { kind: 'user', id: '9/9' },
      at: new Date('2020-01-02T00:00:00Z')
    }))
  const count = async (query: string): Promise<number> =>
    (await send('GET', `/api/v1/audit?${query}`, {}, admin)).body.data.length as number
  const adminId = await idOf(admin)
  const expected = {
    '': 7,
    'action=user.created': 3,
    'action=user': 0,
    [`userId=${adminId}`]: 5,
    [`userId=${first}`]: 1,
    [`userId=${second}`]: 1,
    'object=user': 6,
    [`object=user/${second}`]: 3,
    'object=user/9/9': 1,
    'object=user/': 0,
    'object=company': 1,
    'to=2020-01-02': 1,
    'from=2020-01-02&to=2021-01-01': 1,
    'from=2021-01-01T00:00:00Z': 5,
    'action=user.changed&object=user/1': 0
  }
  for (const [query, found] of Object.entries(expected)) t.equal(await count(query), found, query)
  has(t, (await send('GET', '/api/v1/audit?to=2021-01-01', {}, admin)).body.data, [
    { author: null, object: { kind: 'user', id: '9/9' } },
    { author: { userId: second, companyId, impersonatorId: first, keyId: 'key-1' }, address: '192.0.2.9', at: '2020-01-01T00:00:00.000Z' }
  ])
  const ids: string[] = []
  for (let cursor: string | null = '999999999'; cursor !== null;) {
    const { body } = await send('GET', `/api/v1/audit?limit=3&cursor=${cursor}`, {}, admin)
    ids.push(...(body.data as { id: string }[]).map(({ id }) => id))
    cursor = body.nextCursor
  }
  t.equal(ids.length, 7)
  t.strictSame(ids, [...ids].sort((a, b) => Number(b) - Number(a)))
  for (const query of ['userId=0', 'userId=x', 'from=yesterday', 'cursor=-1', 'companyId=0', 'what=else', 'limit=101']) {
    isError(t, await send('GET', `/api/v1/audit?${query}`, {}, admin), 'validation_error', query)
  }
})

await t.test('a session of somebody who acts for somebody else shows both', async (t) => {
  const [target] = await app.get('accounts').byEmail(admin.email)
  const [account] = await app.get('accounts').byEmail(operator.email)
  const token = await app.get('tokens').issue(target!, {
    impersonator: { userId: account!.userId, passwordVersion: account!.passwordVersion }
  })
  t.equal((await send('PUT', '/api/v1/company', { body: { lowCredit: 2 }, headers: { authorization: `Bearer ${token}` } }, null)).status,
    200)
  const { data: [entry] } = (await send('GET', '/api/v1/audit?limit=1', {}, admin)).body
  has(t, entry, { action: 'settings.changed', author: { userId: target!.userId, companyId, impersonatorId: account!.userId } })
  t.notOk('address' in entry, 'nor from where an operator acts as somebody of the company')
  has(t, (await send('GET', `/api/v1/audit?limit=1&companyId=${companyId}`, {}, operator)).body.data, [{ address: '127.0.0.1' }])
})

await t.test('none of it was a fault of the service', (t) => {
  const { log } = service
  hasNoFault(t, { ...service, log: log.filter((line) => !line.includes('its answer was lost') && !line.includes('audit is append-only')) })
  t.end()
})
