import { defineProvider, draftFirst, type Found, given, type HttpCall, invoiceOf, requireAsWanted, type Static, Type,
  withoutErrors } from '@dispatch/core/provider'
import { carries, contactFields, invoiceFields, limits } from './invoice.ts'
import { type Call, type Request, Settings } from './settings.ts'

/** 0 stands in every answer that did something. */
const done = { ...withoutErrors, code: Type.Literal(0) }
const Id = Type.String({ pattern: '^\\d*[1-9]\\d*$' })
const said = { status: Type.String(), invoice_number: Type.String(), total: Type.Number() }
const Invoice = Type.Object({ ...done, invoice: Type.Object({ ...said, invoice_id: Id }) })
type Invoice = Static<typeof Invoice>['invoice']
const Contact = Type.Object({ ...done, contact: Type.Object({ contact_id: Id }) })
const Contacts = Type.Object({ ...done, contacts: Type.Array(Type.Object({ contact_id: Id, contact_name: Type.String() })) })

const draft = 'draft'
const day = 24 * 3600

export default defineProvider({
  code: 'zoho-books',
  name: 'Zoho Books',
  docs: 'https://www.zoho.com/books/api/v3/invoices/',
  hosts: ['com', 'eu', 'in', 'com.au', 'jp'].flatMap((centre) => [`www.zohoapis.${centre}`, `accounts.zoho.${centre}`]),
  settings: Settings,
  connect: {
    authorizationUrl: 'https://accounts.zoho.{centre}/oauth/v2/auth',
    tokenUrl: 'https://accounts.zoho.{centre}/oauth/v2/token',
    scope: 'ZohoBooks.invoices.ALL,ZohoBooks.contacts.ALL',
    clientId: 'clientId',
    clientSecret: 'clientSecret',
    clientAuth: 'body',
    parameters: { access_type: 'offline', prompt: 'consent' }
  },
  errors: { at: '/code', message: '/message' },
  check: (call) => call.http.get(...ask(call, 'contacts', { query: { per_page: 1 } }), Contacts),
  services: {
    invoicing: {
      documentTypes: ['INVOICE'],
      requires: ['/number', '/currency', '/customer/name', '/lines/0/quantity', '/lines/0/unitPrice', '/total'],
      limits,
      carries,
      // An invoice can be read by its number at once. A request that was cut off may run for its whole time limit.
      idempotency: { kind: 'lookup', visibleAfter: 60 },
      statuses: {
        sent: 'open',
        viewed: 'open',
        unpaid: 'open',
        overdue: 'open',
        partially_paid: 'partly_paid',
        paid: 'paid',
        void: 'void'
      },
      poll: { until: 120 * day },

      check (request, { settings }) {
        invoiceFields(request, settings)
        return []
      },

      ...draftFirst({
        async prepare (request: Request, call: Call) {
          const fields = invoiceFields(request, call.settings)
          const json = { reference_number: call.reference, customer_id: await contactOf(request, call), ...fields }
          const query = { send: false, ignore_auto_number_generation: true }
          const { invoice } = await call.http.post(...ask(call, 'invoices', { query, json }), Invoice)
          const { invoice_id: id } = invoice
          call.onRefusal((http) => http.delete(...ask(call, pathOf(id)), Type.Unknown()))
          compare(invoice, request)
          return id
        },
        find,
        async issue (id, request, call) {
          compare(await read(id, call), request)
          await call.http.post(...ask(call, `${pathOf(id)}/status/sent`), Type.Object(done))
          return { id, status: 'sent', ...given({ number: invoiceOf(request.data).number }) }
        },
        withdraw: (id, _request, call, http) => http.delete(...ask(call, pathOf(id)), Type.Unknown())
      }),

      status: async ({ id }, call) => ({ status: (await read(id, call)).status }),

      async document ({ id }, call) {
        const [url, request] = ask(call, pathOf(id), { query: { accept: 'pdf' } })
        return await call.http.download(url, { ...request, filename: `${id}.pdf` })
      }
    }
  }
})

function ask (
  { settings: { centre, organizationId } }: Pick<Call, 'settings'>,
  path: string,
  { query, ...more }: HttpCall = {}
): [url: string, call: HttpCall] {
  const oauth2 = { grant: 'authorization_code', scheme: 'Zoho-oauthtoken' } as const
  return [`https://www.zohoapis.${centre}/books/v3/${path}`, { oauth2, query: { organization_id: organizationId, ...query }, ...more }]
}

function pathOf (id: string): string {
  return `invoices/${encodeURIComponent(id)}`
}

async function read (id: string, call: Call): Promise<Invoice> {
  return (await call.http.get(...ask(call, pathOf(id)), Invoice)).invoice
}

/** The contact of the request, the one with the name, or a new one: one that is there is never changed. */
async function contactOf ({ invoicing: { customerId }, data }: Request, call: Call): Promise<string> {
  if (customerId !== undefined) return customerId
  const invoice = invoiceOf(data)
  const { name = '' } = invoice.customer
  const { contacts } = await call.http.get(...ask(call, 'contacts', { query: { contact_name: name } }), Contacts)
  const known = contacts.find((contact) => contact.contact_name === name)
  if (known !== undefined) return known.contact_id
  return (await call.http.post(...ask(call, 'contacts', { json: contactFields(invoice) }), Contact)).contact.contact_id
}

function compare ({ status, invoice_number: number, total }: Invoice, { data }: Request): void {
  requireAsWanted({ total, number, isDraft: status === draft }, invoiceOf(data), 'Zoho Books')
}

async function find (id: string, call: Call): Promise<Found> {
  const { status, invoice_number: number } = await read(id, call)
  return status === draft ? { found: 'draft' } : { found: 'accepted', response: { id, status, number } }
}
