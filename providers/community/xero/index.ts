import { type Accepted, defineProvider, type HttpCall, outcomeUnknown, Secret, type Static, Type } from '@dispatch/core/provider'
import { invoiceFields } from './invoice.ts'

const TaxType = Type.Object({
  percent: Type.Number({ title: 'Percentage', description: 'such as 20', minimum: 0, maximum: 100 }),
  type: Type.String({ title: 'Tax type', description: 'its TaxType at Xero, such as OUTPUT2', pattern: '^[A-Z0-9]{1,50}$' })
}, { additionalProperties: false })

const Settings = Type.Object({
  clientId: Type.String({ title: 'Client ID', description: 'of the custom connection', minLength: 1, maxLength: 100 }),
  clientSecret: Secret({ title: 'Client secret', description: 'of the custom connection', minLength: 1, maxLength: 200 }),
  accountCode: Type.String({
    title: 'Account',
    description: 'the code of the revenue account of all lines, such as 200',
    pattern: '^[^\\s]{1,10}$'
  }),
  taxTypes: Type.Array(TaxType, { title: 'Tax types', description: 'the tax rates of the organisation, by their percentages', minItems: 1 })
})

const Invoice = Type.Object({ InvoiceID: Type.String({ minLength: 1 }), InvoiceNumber: Type.String(), Status: Type.String() })
const Invoices = Type.Object({ Invoices: Type.Array(Invoice) })

const minute = 60
const day = 24 * 60 * minute

/** A request. A custom connection has one organisation, so there is no `xero-tenant-id`; it has the scopes that were chosen with it. */
function ask ({ settings }: { settings: Static<typeof Settings> }, path: string, more: HttpCall = {}): [url: string, call: HttpCall] {
  const { clientId, clientSecret } = settings
  const tokenUrl = 'https://identity.xero.com/connect/token'
  return [`https://api.xero.com/api.xro/2.0/${path}`, {
    oauth2: { grant: 'client_credentials', tokenUrl, clientId, clientSecret },
    ...more
  }]
}

const pathOf = (id: string): string => `Invoices/${encodeURIComponent(id)}`

function responseOf ({ Invoices: [invoice] }: Static<typeof Invoices>): Accepted {
  if (invoice === undefined) throw outcomeUnknown('Xero answered without an invoice.')
  return { id: invoice.InvoiceID, status: invoice.Status, number: invoice.InvoiceNumber }
}

export default defineProvider({
  code: 'xero',
  name: 'Xero',
  docs: 'https://developer.xero.com/documentation/api/accounting/invoices',
  hosts: ['api.xero.com', 'identity.xero.com'],
  settings: Settings,
  errors: { at: ['/Type', '/Title'], message: ['/Elements/0/ValidationErrors/0/Message', '/Detail', '/Message'] },
  check: (call) => call.http.get(...ask(call, 'Invoices', { query: { page: '1', pageSize: '1' } }), Invoices),
  services: {
    invoicing: {
      documentTypes: ['INVOICE'],
      requires: ['/number', '/currency', '/customer/name', '/lines/0/quantity', '/lines/0/unitPrice', '/total'],
      limits: [{ at: '/data/number', fits: Type.Unsafe({ maxLength: 255 }) }, {
        at: '/data/customer/name',
        fits: Type.Unsafe({ maxLength: 255 })
      }],
      // Xero permits each number of an invoice once, and a PUT creates only: a second one is refused.
      idempotency: { kind: 'lookup', visibleAfter: minute },
      statuses: { AUTHORISED: 'open', PAID: 'paid', VOIDED: 'void', DELETED: 'void' },
      poll: { until: 120 * day },

      check (asked, { settings }) {
        invoiceFields(asked, settings)
        return []
      },

      async dispatch (request, call) {
        const json = { ...invoiceFields(request, call.settings), Reference: call.reference }
        return responseOf(await call.http.put(...ask(call, 'Invoices', { query: { unitdp: '4' }, json }), Invoices))
      },

      async lookup (_request, call) {
        const query = { where: `Reference=="${call.reference}"` }
        const answer = await call.http.get(...ask(call, 'Invoices', { query }), Invoices)
        return answer.Invoices.length === 0 ? { found: 'absent' } : { found: 'accepted', response: responseOf(answer) }
      },

      status: async ({ id }, call) => responseOf(await call.http.get(...ask(call, pathOf(id)), Invoices)),

      async document ({ id }, call) {
        const [url, request] = ask(call, pathOf(id), { headers: { accept: 'application/pdf' } })
        return await call.http.download(url, { ...request, filename: `${id}.pdf` })
      }
    }
  }
})
