import { type Accepted, defineProvider, type Http, type HttpCall, outcomeUnknown, refused, type Static,
  Type } from '@dispatch/core/provider'
import { invoiceFields } from './invoice.ts'
import { Settings } from './settings.ts'

const Invoice = Type.Object({ InvoiceID: Type.String({ minLength: 1 }), InvoiceNumber: Type.String(), Status: Type.String() })
const Invoices = Type.Object({ Invoices: Type.Array(Invoice) })

const Connections = Type.Array(Type.Object({ tenantId: Type.String(), tenantType: Type.String() }))

const minute = 60
const day = 24 * 60 * minute

const api = 'https://api.xero.com'
const oauth2 = { grant: 'authorization_code' } as const

/** A call of the provider, or its check. */
type Call = { settings: Settings, http: Pick<Http, 'get'> }

/** A request for an organisation of the connection. */
async function ask (call: Call, path: string, { headers, ...more }: HttpCall = {}): Promise<[url: string, call: HttpCall]> {
  return [`${api}/api.xro/2.0/${path}`, { oauth2, headers: { 'xero-tenant-id': await tenantOf(call), ...headers }, ...more }]
}

/** The organisation of the settings, else the only one that the person has chosen at Xero. */
async function tenantOf ({ settings: { tenantId }, http }: Call): Promise<string> {
  if (tenantId !== undefined) return tenantId
  const connections = await http.get(`${api}/connections`, { oauth2 }, Connections)
  const [only, ...others] = connections.filter(({ tenantType }) => tenantType === 'ORGANISATION')
  if (only !== undefined && others.length === 0) return only.tenantId
  throw refused('organisation_needed', only === undefined
    ? 'The connection has no organisation: connect it again, and choose one at Xero.'
    : `The connection has ${others.length + 1} organisations: set the tenant ID of one.`)
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
  hosts: ['api.xero.com', 'identity.xero.com', 'login.xero.com'],
  settings: Settings,
  connect: {
    authorizationUrl: 'https://login.xero.com/identity/connect/authorize',
    tokenUrl: 'https://identity.xero.com/connect/token',
    scope: 'offline_access accounting.invoices accounting.contacts',
    clientId: 'clientId',
    clientSecret: 'clientSecret'
  },
  errors: { at: ['/Type', '/Title'], message: ['/Elements/0/ValidationErrors/0/Message', '/Detail', '/Message'] },
  check: async (call) => await call.http.get(...await ask(call, 'Invoices', { query: { page: '1', pageSize: '1' } }), Invoices),
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
        return responseOf(await call.http.put(...await ask(call, 'Invoices', { query: { unitdp: '4' }, json }), Invoices))
      },

      async lookup (_request, call) {
        const query = { where: `Reference=="${call.reference}"` }
        const answer = await call.http.get(...await ask(call, 'Invoices', { query }), Invoices)
        return answer.Invoices.length === 0 ? { found: 'absent' } : { found: 'accepted', response: responseOf(answer) }
      },

      status: async ({ id }, call) => responseOf(await call.http.get(...await ask(call, pathOf(id)), Invoices)),

      async document ({ id }, call) {
        const [url, request] = await ask(call, pathOf(id), { headers: { accept: 'application/pdf' } })
        return await call.http.download(url, { ...request, filename: `${id}.pdf` })
      }
    }
  }
})
