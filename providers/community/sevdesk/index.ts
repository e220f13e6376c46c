import { defineProvider, draftFirst, type Found, given, type HttpCall, invoiceOf, outcomeUnknown, refused, requireAsWanted, type Static,
  Type, withoutErrors } from '@dispatch/core/provider'
import { carries, invoiceFields, limits } from './invoice.ts'
import { type Call, type Request, Settings } from './settings.ts'

const Id = Type.String({ pattern: '^\\d*[1-9]\\d*$' })
const Sum = Type.String({ pattern: '^-?\\d+(\\.\\d+)?$' })
const Invoice = Type.Object({
  id: Id,
  invoiceNumber: Type.Optional(Type.Union([Type.String(), Type.Null()])),
  status: Id,
  sumGross: Sum,
  sumGrossForeignCurrency: Type.Optional(Sum)
})
type Invoice = Static<typeof Invoice>
const One = Type.Object({ ...withoutErrors, objects: Type.Array(Invoice, { minItems: 1, maxItems: 1 }) })
const Made = Type.Object({ ...withoutErrors, objects: Type.Object({ invoice: Invoice }) })
const Contact = Type.Object({ ...withoutErrors, objects: Type.Object({ id: Id }) })
const Users = Type.Object({ objects: Type.Array(Type.Object({ id: Id }), { minItems: 1 }) })
const Countries = Type.Object({ objects: Type.Array(Type.Object({ id: Id, code: Type.String() })) })
const Pdf = Type.Object({ objects: Type.Object({ filename: Type.String(), mimeType: Type.String(), content: Type.String() }) })

const draft = '100'
const day = 24 * 3600

export default defineProvider({
  code: 'sevdesk',
  name: 'sevdesk',
  docs: 'https://api.sevdesk.de',
  hosts: ['my.sevdesk.de'],
  settings: Settings,
  errors: { at: '/error/code', message: ['/error/message', '/message'] },
  check: (call) => call.http.get(...ask(call, `SevUser/${call.settings.userId}`), Users),
  services: {
    invoicing: {
      documentTypes: ['INVOICE'],
      requires: ['/number', '/date', '/currency', '/customer/name', '/customer/country', '/lines/0/quantity', '/lines/0/unitPrice',
        '/total'],
      limits,
      carries,
      // An invoice can be read by its id at once. A request that was cut off may run for its whole time limit.
      idempotency: { kind: 'lookup', visibleAfter: 60 },
      statuses: { 200: 'open', 750: 'partly_paid', 1000: 'paid' },
      poll: { until: 120 * day },

      check (request, { settings }) {
        invoiceFields(request, settings)
        return []
      },

      ...draftFirst({
        async prepare (request: Request, call: Call) {
          const { invoice, invoicePosSave } = invoiceFields(request, call.settings)
          const country = await countryOf(request, call)
          const contact = { id: await contactOf(request, call), objectName: 'Contact' }
          const json = {
            invoice: { customerInternalNote: call.reference, ...invoice, addressCountry: country, contact },
            invoicePosSave,
            invoicePosDelete: null
          }
          const { objects: { invoice: made } } = await call.http.post(...ask(call, 'Invoice/Factory/saveInvoice', { json }), Made)
          call.onRefusal((http) => http.delete(...ask(call, pathOf(made.id)), Type.Unknown()))
          compare(made, request)
          return made.id
        },
        find,
        async issue (id, request, call) {
          const json = { sendType: 'VPDF', sendDraft: false }
          const issued = onlyOf(await call.http.put(...ask(call, `${pathOf(id)}/sendBy`, { json }), One))
          compare(issued, request)
          return answer(issued)
        },
        withdraw: (id, _request, call, http) => http.delete(...ask(call, pathOf(id)), Type.Unknown())
      }),

      status: async ({ id }, call) => ({ status: (await read(id, call)).status }),

      async document ({ id }, call) {
        const query = { preventSendBy: true }
        const { objects: { filename, mimeType, content } } = await call.http.get(...ask(call, `${pathOf(id)}/getPdf`, { query }), Pdf)
        return await call.documents.keep({ base64: content, filename, contentType: mimeType })
      }
    }
  }
})

function ask ({ settings: { token } }: Pick<Call, 'settings'>, path: string, more: HttpCall = {}): [url: string, call: HttpCall] {
  return [`https://my.sevdesk.de/api/v1/${path}`, { apiKey: { header: 'Authorization', value: token }, ...more }]
}

function pathOf (id: string): string {
  return `Invoice/${encodeURIComponent(id)}`
}

function onlyOf ({ objects: [invoice] }: Static<typeof One>): Invoice {
  if (invoice === undefined) throw outcomeUnknown('sevdesk answered without the invoice.')
  return invoice
}

async function read (id: string, call: Call): Promise<Invoice> {
  return onlyOf(await call.http.get(...ask(call, pathOf(id)), One))
}

/** sevdesk's own id of the country of the customer. */
async function countryOf ({ data }: Request, call: Call) {
  const { country = '' } = invoiceOf(data).customer
  const { objects } = await call.http.get(...ask(call, 'StaticCountry', { query: { limit: 1000 } }), Countries)
  const known = objects.find(({ code }) => code.toUpperCase() === country)
  if (known === undefined) throw refused('unknown_country', `sevdesk has no country ${country}.`, '/data/customer/country')
  return { id: known.id, objectName: 'StaticCountry' }
}

/** The contact of the request, or a new customer: one that is there is never changed. */
async function contactOf ({ invoicing: { customerId }, data }: Request, call: Call): Promise<string> {
  if (customerId !== undefined) return customerId
  const { name = '', vatId } = invoiceOf(data).customer
  const json = { name, category: { id: 3, objectName: 'Category' }, ...given({ vatNumber: vatId }) }
  return (await call.http.post(...ask(call, 'Contact', { json }), Contact)).objects.id
}

function compare ({ invoiceNumber: number, status, sumGross, sumGrossForeignCurrency }: Invoice, { data }: Request): void {
  const wanted = invoiceOf(data)
  // An invoice in another currency has its first amount in the currency of the account.
  const total = [sumGrossForeignCurrency, sumGross].find((sum) => sum !== undefined && wanted.total.eq(sum)) ?? sumGross
  requireAsWanted({ total, number, isDraft: status === draft }, wanted, 'sevdesk')
}

async function find (id: string, call: Call): Promise<Found> {
  const invoice = await read(id, call)
  return invoice.status === draft ? { found: 'draft' } : { found: 'accepted', response: answer(invoice) }
}

function answer ({ id, status, invoiceNumber }: Invoice) {
  return { id, status, ...given({ number: invoiceNumber ?? undefined }) }
}
