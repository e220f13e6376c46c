import { defineProvider, draftFirst, type Found, type HttpCall, refused, textOf, Type } from '@dispatch/core/provider'
import { type Call, type Request, Settings } from './settings.ts'

/** An answer with an error in it has made nothing. */
const Answer = Type.Object({
  error: Type.Optional(Type.Null()),
  errors: Type.Optional(Type.Null()),
  invoice: Type.Object({ id: Type.Integer({ minimum: 1 }), state: Type.String({ minLength: 1 }), number: Type.Optional(Type.String()) })
})
const Event = Type.Object({
  code: Type.String(),
  data: Type.Object({ invoice_id: Type.Integer({ minimum: 1 }), event_id: Type.Integer(), state: Type.String({ minLength: 1 }) })
})

/** States that the list of invoices can be filtered by, and what is said of them: https://developer.b2brouter.net. */
const statuses = {
  sending: 'received',
  sent: 'received',
  registered: 'received',
  accepted: 'accepted',
  refused: 'rejected',
  error: 'rejected',
  allegedly_paid: 'paid'
} as const

const day = 24 * 3600

const { dispatch } = draftFirst({
  async prepare ({ data, document }: Request, call: Call) {
    const path = `accounts/${call.settings.account}/invoices/import`
    const { invoice: { id, number } } = await call.http.post(...ask(call, path, { document }), Answer)
    call.onRefusal((http) => http.delete(...ask(call, pathOf(String(id))), Type.Unknown()))
    const wanted = textOf(data, '/number')
    if (number !== undefined && wanted !== undefined && number !== wanted) {
      throw refused('number_differs', `B2Brouter has read the number ${number}, and the data says ${wanted}: nothing was sent.`)
    }
    return String(id)
  },
  find,
  async issue (draft, _request, call) {
    await call.http.post(...ask(call, `invoices/send_invoice/${encodeURIComponent(draft)}`), Type.Unknown())
    return { id: draft, status: 'sending' }
  },
  withdraw: (draft, _request, call, http) => http.delete(...ask(call, pathOf(draft)), Type.Unknown())
})

export default defineProvider({
  code: 'b2brouter',
  name: 'B2Brouter',
  docs: 'https://developer.b2brouter.net',
  hosts: ['api.b2brouter.net', 'api-staging.b2brouter.net'],
  sandbox: { kind: 'configuration' },
  settings: Settings,
  errors: { at: '/error/code', message: ['/error/message', '/message', '/errors/*'] },
  check: (call) => {
    const path = `accounts/${call.settings.account}/invoices`
    return call.http.get(...ask(call, path, { query: { limit: 1 } }), Type.Object({ invoices: Type.Array(Type.Unknown()) }))
  },
  services: {
    invoicing: {
      documentTypes: ['E_INVOICE'],
      eInvoiceFormats: ['FACTUR_X', 'UBL', 'CII'],
      ignores: [{
        at: ['/invoicing/customerId', '/invoicing/reference'],
        because: 'B2Brouter reads the e-invoice, which names its customer and its references itself.'
      }],
      // What is imported as it is carries no reference of ours.
      idempotency: { kind: 'none' },
      statuses,
      poll: { after: 600, until: 60 * day },

      // What is imported goes to nobody before it is sent.
      checkpoint: true,
      dispatch,

      status: async ({ id }, call) => ({ status: (await call.http.get(...ask(call, pathOf(id)), Answer)).invoice.state })
    }
  },
  webhooks: {
    invoicing: {
      verify: {
        kind: 'signature',
        signed: ['time', { text: '.' }, 'body'],
        at: { header: 'X-B2Brouter-Signature', part: 's' },
        algorithm: 'hmac-sha256',
        encoding: 'hex',
        key: { secret: 'webhookSecret' },
        time: { at: { header: 'X-B2Brouter-Signature', part: 't' } }
      },
      body: Event,
      read: ({ data: { invoice_id: invoice, event_id: event, state } }) => ({
        eventId: String(event),
        type: state,
        remoteId: String(invoice)
      }),
      events: statuses
    }
  }
})

function ask (
  { settings: { apiKey }, sandbox }: Pick<Call, 'settings' | 'sandbox'>,
  path: string,
  more: HttpCall = {}
): [url: string, call: HttpCall] {
  const url = `https://api${sandbox ? '-staging' : ''}.b2brouter.net/${path}`
  return [url, { apiKey: { header: 'X-B2B-API-Key', value: apiKey }, headers: { 'X-B2B-API-Version': '2025-10-13' }, ...more }]
}

function pathOf (id: string): string {
  return `invoices/${encodeURIComponent(id)}`
}

async function find (draft: string, call: Call): Promise<Found> {
  const { invoice: { state } } = await call.http.get(...ask(call, pathOf(draft)), Answer)
  return state === 'new' ? { found: 'draft' } : { found: 'accepted', response: { id: draft, status: state } }
}
