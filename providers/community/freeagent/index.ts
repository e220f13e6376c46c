import { defineProvider, draftFirst, type Found, given, type HttpCall, invoiceOf, requireAsWanted, type Static, Type,
  withoutErrors } from '@dispatch/core/provider'
import { carries, contactFields, invoiceFields, limits } from './invoice.ts'
import { type Call, type Request, Settings } from './settings.ts'

/** FreeAgent calls each thing by its URL, which ends in its number. */
const url = Type.String({ pattern: '/[1-9]\\d*$' })
const said = { status: Type.String(), reference: Type.String(), total_value: Type.String({ pattern: '^-?\\d+(\\.\\d+)?$' }) }
const Invoice = Type.Object({ ...withoutErrors, invoice: Type.Object(said) })
type Invoice = Static<typeof Invoice>['invoice']
const Made = Type.Object({ ...withoutErrors, invoice: Type.Object({ ...said, url }) })
const Contact = Type.Object({ ...withoutErrors, contact: Type.Object({ url }) })
const Pdf = Type.Object({ pdf: Type.Object({ content: Type.String() }) })

const draft = 'Draft'
const day = 24 * 3600

export default defineProvider({
  code: 'freeagent',
  name: 'FreeAgent',
  docs: 'https://dev.freeagent.com/docs/invoices',
  hosts: ['api.freeagent.com', 'api.sandbox.freeagent.com'],
  sandbox: { kind: 'configuration' },
  settings: Settings,
  connect: {
    authorizationUrl: 'https://api.freeagent.com/v2/approve_app',
    tokenUrl: 'https://api.freeagent.com/v2/token_endpoint',
    clientId: 'clientId',
    clientSecret: 'clientSecret',
    sandbox: {
      authorizationUrl: 'https://api.sandbox.freeagent.com/v2/approve_app',
      tokenUrl: 'https://api.sandbox.freeagent.com/v2/token_endpoint'
    }
  },
  errors: { message: ['/errors/error/message', '/errors/0/message', '/errors/*'] },
  check: (call) => call.http.get(...ask(call, 'company'), Type.Object({ company: Type.Unknown() })),
  services: {
    invoicing: {
      documentTypes: ['INVOICE'],
      requires: ['/number', '/date', '/currency', '/customer/name', '/lines/0/quantity', '/lines/0/unitPrice', '/total'],
      limits,
      carries,
      // An invoice can be read by its number at once. A request that was cut off may run for its whole time limit.
      idempotency: { kind: 'lookup', visibleAfter: 60 },
      statuses: { Open: 'open', Overdue: 'open', Paid: 'paid', Overpaid: 'paid', 'Written-off': 'uncollectible' },
      poll: { until: 120 * day },

      check (request) {
        invoiceFields(request)
        return []
      },

      ...draftFirst({
        async prepare (request: Request, call: Call) {
          const fields = invoiceFields(request)
          const json = { invoice: { po_reference: call.reference, contact: await contactOf(request, call), ...fields } }
          const { invoice } = await call.http.post(...ask(call, 'invoices', { json }), Made)
          const id = invoice.url.split('/').at(-1) ?? ''
          call.onRefusal((http) => http.delete(...ask(call, pathOf(id)), Type.Unknown()))
          compare(invoice, request)
          return id
        },
        find,
        async issue (id, request, call) {
          compare(await read(id, call), request)
          await call.http.put(...ask(call, `${pathOf(id)}/transitions/mark_as_sent`), Type.Unknown())
          return { id, status: 'Open', ...given({ number: invoiceOf(request.data).number }) }
        },
        withdraw: (id, _request, call, http) => http.delete(...ask(call, pathOf(id)), Type.Unknown())
      }),

      status: async ({ id }, call) => ({ status: (await read(id, call)).status }),

      async document ({ id }, call) {
        const { pdf } = await call.http.get(...ask(call, `${pathOf(id)}/pdf`), Pdf)
        return await call.documents.keep({ base64: pdf.content, filename: `${id}.pdf`, contentType: 'application/pdf' })
      }
    }
  }
})

function ask ({ sandbox }: Pick<Call, 'sandbox'>, path: string, more: HttpCall = {}): [url: string, call: HttpCall] {
  return [`https://api.${sandbox ? 'sandbox.' : ''}freeagent.com/v2/${path}`, { oauth2: { grant: 'authorization_code' }, ...more }]
}

function pathOf (id: string): string {
  return `invoices/${encodeURIComponent(id)}`
}

async function read (id: string, call: Call): Promise<Invoice> {
  return (await call.http.get(...ask(call, pathOf(id)), Invoice)).invoice
}

/** The contact of the request, or a new one: one that is there is never changed. */
async function contactOf ({ invoicing: { customerId }, data }: Request, call: Call): Promise<string> {
  if (customerId !== undefined) return ask(call, `contacts/${customerId}`)[0]
  const json = { contact: contactFields(invoiceOf(data)) }
  return (await call.http.post(...ask(call, 'contacts', { json }), Contact)).contact.url
}

function compare ({ status, reference: number, total_value: total }: Invoice, { data }: Request): void {
  requireAsWanted({ total, number, isDraft: status === draft }, invoiceOf(data), 'FreeAgent')
}

async function find (id: string, call: Call): Promise<Found> {
  const { status, reference: number } = await read(id, call)
  return status === draft ? { found: 'draft' } : { found: 'accepted', response: { id, status, number } }
}
