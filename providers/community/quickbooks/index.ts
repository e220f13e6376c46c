import { defineProvider, given, type HttpCall, invoiceOf, requireAsWanted, type Static, Type } from '@dispatch/core/provider'
import { carries, invoiceFields, limits } from './invoice.ts'
import { type Call, type Request, Settings } from './settings.ts'

/** An answer may be 200 and have a fault in it: it has done nothing. */
const said = { Fault: Type.Optional(Type.Null()) }
const Id = Type.String({ pattern: '^[1-9]\\d*$' })
const Invoice = Type.Object({
  Id,
  SyncToken: Type.String(),
  DocNumber: Type.Optional(Type.String()),
  TotalAmt: Type.Number(),
  Balance: Type.Number(),
  PrivateNote: Type.Optional(Type.String())
})
type Invoice = Static<typeof Invoice>
const One = Type.Object({ ...said, Invoice })
const Customer = Type.Object({ Id })
const Made = Type.Object({ ...said, Customer })
const Found = Type.Object({ ...said, QueryResponse: Type.Object({ Customer: Type.Optional(Type.Array(Customer)) }) })
const Event = Type.Object({
  eventNotifications: Type.Array(Type.Object({
    realmId: Type.String(),
    dataChangeEvent: Type.Object({
      entities: Type.Array(Type.Object({ name: Type.String(), id: Type.String(), operation: Type.String(), lastUpdated: Type.String() }))
    })
  }))
})

const [hour, day] = [3600, 24 * 3600]

export default defineProvider({
  code: 'quickbooks',
  name: 'QuickBooks Online',
  docs: 'https://developer.intuit.com/app/developer/qbo/docs/api/accounting/all-entities/invoice',
  hosts: ['quickbooks.api.intuit.com', 'sandbox-quickbooks.api.intuit.com', 'appcenter.intuit.com', 'oauth.platform.intuit.com'],
  sandbox: { kind: 'configuration' },
  settings: Settings,
  connect: {
    authorizationUrl: 'https://appcenter.intuit.com/connect/oauth2',
    tokenUrl: 'https://oauth.platform.intuit.com/oauth2/v1/tokens/bearer',
    scope: 'com.intuit.quickbooks.accounting',
    clientId: 'clientId',
    clientSecret: 'clientSecret',
    facts: { realmId: { redirect: 'realmId', pattern: '[0-9]{1,20}' } }
  },
  errors: {
    at: ['/Fault/Error/0/code', '/fault/error/0/code'],
    message: ['/Fault/Error/0/Detail', '/Fault/Error/0/Message', '/fault/error/0/detail', '/fault/error/0/message'],
    map: { 3200: 'authentication_error' }
  },
  check: (call) => call.http.get(...ask(call, `companyinfo/${call.facts.realmId}`), Type.Object({ ...said, CompanyInfo: Type.Unknown() })),
  services: {
    invoicing: {
      documentTypes: ['INVOICE'],
      requires: ['/number', '/currency', '/customer/name', '/lines/0/quantity', '/lines/0/unitPrice', '/total'],
      limits,
      carries,
      // A repeated requestid gives the first answer; no page that was read says for how long.
      idempotency: { kind: 'key', ttl: hour },
      statuses: { open: 'open', partly_paid: 'partly_paid', paid: 'paid', void: 'void' },
      poll: { until: 120 * day },

      check (request, { settings }) {
        invoiceFields(request, settings)
        return []
      },

      async dispatch (request: Request, call: Call) {
        const fields = invoiceFields(request, call.settings)
        const json = { ...fields, CustomerRef: { value: await customerOf(request, call) }, PrivateNote: call.reference }
        const { Invoice: made } = await call.http.post(...ask(call, 'invoice', { query: { requestid: call.idempotencyKey }, json }), One)
        const { Id: id, SyncToken, TotalAmt: total, DocNumber: number } = made
        call.onRefusal((http) =>
          http.post(...ask(call, 'invoice', { query: { operation: 'delete' }, json: { Id: id, SyncToken } }), Type.Unknown())
        )
        requireAsWanted({ total, number, isDraft: true }, invoiceOf(request.data), 'QuickBooks')
        return { id, status: statusOf(made), ...given({ number }) }
      },

      status: async ({ id }, call) => ({ status: statusOf((await call.http.get(...ask(call, pathOf(id)), One)).Invoice) }),

      async document ({ id }, call) {
        const [url, request] = ask(call, `${pathOf(id)}/pdf`, { headers: { accept: 'application/pdf' } })
        return await call.http.download(url, { ...request, filename: `${id}.pdf` })
      }
    }
  },
  webhooks: {
    invoicing: {
      verify: { kind: 'hmac', header: 'intuit-signature', algorithm: 'sha256', encoding: 'base64', secret: 'verifierToken' },
      body: Event,
      read: ({ eventNotifications }) =>
        eventNotifications.flatMap(({ dataChangeEvent: { entities } }) =>
          entities.filter(({ name }) => name === 'Invoice').map(({ id: remoteId, operation: type, lastUpdated: at }) => ({
            remoteId,
            type,
            at
          }))
        ),
      events: {},
      // An event says that an invoice has changed, and not how.
      confirm: true
    }
  }
})

function ask (
  { sandbox, facts: { realmId } }: Pick<Call, 'sandbox' | 'facts'>,
  path: string,
  { query, ...more }: HttpCall = {}
): [url: string, call: HttpCall] {
  const url = `https://${sandbox ? 'sandbox-' : ''}quickbooks.api.intuit.com/v3/company/${realmId}/${path}`
  return [url, { oauth2: { grant: 'authorization_code' }, query: { minorversion: 75, ...query }, ...more }]
}

function pathOf (id: string): string {
  return `invoice/${encodeURIComponent(id)}`
}

/** The customer of the request, the one with the e-mail address or else the name, or a new one: one that is there is never changed. */
async function customerOf ({ invoicing: { customerId }, data }: Request, call: Call): Promise<string> {
  if (customerId !== undefined) return customerId
  const { customer: { name = '', email }, currency = '' } = invoiceOf(data)
  const [field, value] = email === undefined ? ['DisplayName', name] : ['PrimaryEmailAddr', email]
  const query = { query: `select Id from Customer where ${field} = '${value.replaceAll(/['\\]/g, (sign) => `\\${sign}`)}'` }
  const { QueryResponse: { Customer: [known] = [] } } = await call.http.get(...ask(call, 'query', { query }), Found)
  if (known !== undefined) return known.Id
  const address = given({ PrimaryEmailAddr: email === undefined ? undefined : { Address: email } })
  const json = { DisplayName: name, CurrencyRef: { value: currency }, ...address }
  return (await call.http.post(...ask(call, 'customer', { query: { requestid: `${call.idempotencyKey}-c` }, json }), Made)).Customer.Id
}

/** QuickBooks has no word: what is left to pay tells. */
function statusOf ({ TotalAmt, Balance, PrivateNote = '' }: Invoice): string {
  if (PrivateNote.startsWith('Voided')) return 'void'
  return Balance === 0 ? 'paid' : Balance < TotalAmt ? 'partly_paid' : 'open'
}
