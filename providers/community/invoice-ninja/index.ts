import { defineProvider, draftFirst, type Found, type HttpCall, type Invoice as Wanted, invoiceOf, Money, outcomeUnknown, refused,
  type Static, Type } from '@dispatch/core/provider'
import { carries, clientFields, invoiceFields, limits } from './invoice.ts'
import { type Call, type Request, Settings } from './settings.ts'

/** An answer with errors in it has made nothing. */
const said = { errors: Type.Optional(Type.Null()), error: Type.Optional(Type.Null()) }
const Id = Type.String({ minLength: 1, pattern: '[^0-]' })
const Client = Type.Object({ ...said, data: Type.Object({ id: Id }) })
const Invoice = Type.Object({
  id: Id,
  number: Type.Optional(Type.String()),
  status_id: Type.String({ minLength: 1 }),
  amount: Type.Number()
})
type Invoice = Static<typeof Invoice>
const One = Type.Object({ ...said, data: Invoice })
const Several = Type.Object({ ...said, data: Type.Array(Invoice) })

const draft = '1'
const day = 24 * 3600

export default defineProvider({
  code: 'invoice-ninja',
  name: 'Invoice Ninja',
  docs: 'https://api-docs.invoicing.co',
  hosts: ['invoicing.co'],
  settings: Settings,
  errors: { message: ['/errors/*', '/message'] },
  check: (call) => call.http.get(...ask(call, 'invoices', { query: { per_page: 1 } }), Several),
  services: {
    invoicing: {
      documentTypes: ['INVOICE'],
      requires: ['/number', '/currency', '/customer/name', '/lines/0/quantity', '/lines/0/unitPrice', '/total'],
      limits,
      carries,
      // An invoice can be read by its id at once. A request that was cut off may run for its whole time limit.
      idempotency: { kind: 'lookup', visibleAfter: 60 },
      statuses: { 2: 'open', 3: 'partly_paid', 4: 'paid', 5: 'void', 6: 'void' },
      poll: { until: 120 * day },

      check (request, { settings }) {
        invoiceFields(request, settings)
        return []
      },

      ...draftFirst({
        async prepare (request: Request, call: Call) {
          const fields = invoiceFields(request, call.settings)
          const json = { client_id: await clientOf(request, call), custom_value1: call.reference, ...fields }
          const { data: made } = await call.http.post(...ask(call, 'invoices', { json }), One)
          call.onRefusal((http) => http.delete(...ask(call, pathOf(made.id)), Type.Unknown()))
          return compare(made, invoiceOf(request.data)).id
        },
        find,
        async issue (id, request, call) {
          const json = { action: 'mark_sent', ids: [id] }
          const { data: [issued] } = await call.http.post(...ask(call, 'invoices/bulk', { json }), Several)
          if (issued === undefined) throw outcomeUnknown('Invoice Ninja answered without the invoice.')
          return answer(compare(issued, invoiceOf(request.data)))
        },
        withdraw: (id, _request, call, http) => http.delete(...ask(call, pathOf(id)), Type.Unknown())
      }),

      status: async ({ id }, call) => ({ status: (await read(id, call)).status_id }),

      async document ({ id }, call) {
        const { number = id } = await read(id, call)
        const [url, request] = ask(call, `${pathOf(id)}/download`)
        return await call.http.download(url, { ...request, filename: `${number}.pdf` })
      }
    }
  },
  webhooks: {
    invoicing: {
      // Invoice Ninja signs nothing, and sends headers of one's own.
      verify: { kind: 'secret', at: { header: 'X-Dispatch-Secret' }, secret: 'webhookSecret' },
      body: Type.Object({ id: Id }),
      read: ({ id: remoteId }) => ({ remoteId, type: 'changed' }),
      events: {},
      // An event is the invoice as it was.
      confirm: true
    }
  }
})

function ask (
  { settings: { token, server = 'invoicing.co' } }: Pick<Call, 'settings'>,
  path: string,
  more: HttpCall = {}
): [url: string, call: HttpCall] {
  const headers = { 'X-Requested-With': 'XMLHttpRequest' }
  return [`https://${server}/api/v1/${path}`, { apiKey: { header: 'X-API-TOKEN', value: token }, headers, ...more }]
}

function pathOf (id: string): string {
  return `invoices/${encodeURIComponent(id)}`
}

async function read (id: string, call: Call): Promise<Invoice> {
  return (await call.http.get(...ask(call, pathOf(id)), One)).data
}

/** The client of the request, or a new one: one that is there is never changed. */
async function clientOf ({ invoicing: { customerId }, data }: Request, call: Call): Promise<string> {
  return customerId ?? (await call.http.post(...ask(call, 'clients', { json: clientFields(invoiceOf(data)) }), Client)).data.id
}

/** Refuses a draft that was made otherwise; what is issued otherwise needs a person. */
function compare (made: Invoice, { total, number }: Wanted): Invoice {
  const difference = !total.eq(new Money(made.amount))
    ? `The total there is ${made.amount}, and that of the data is ${total.toFixed()}`
    : made.number !== undefined && made.number !== number
    ? `The invoice is called ${made.number} there, and ${number ?? ''} in the data`
    : undefined
  if (difference === undefined) return made
  throw made.status_id === draft ? refused('made_otherwise', `${difference}.`) : outcomeUnknown(`${difference}: it is issued.`)
}

async function find (id: string, call: Call): Promise<Found> {
  const invoice = await read(id, call)
  return invoice.status_id === draft ? { found: 'draft' } : { found: 'accepted', response: answer(invoice) }
}

function answer ({ id, status_id: status, number }: Invoice) {
  return { id, status, ...(number !== undefined && { number }) }
}
