import { defineProvider, draftFirst, invoiceOf, Type } from '@dispatch/core/provider'
import { answer, ask, compare, Created, find, findUnrecorded, pathOf, read, Validated } from './api.ts'
import { carries, fieldsOf, limits } from './invoice.ts'
import { type Call, type Request, RequestSettings, Settings } from './settings.ts'

const day = 24 * 3600

export default defineProvider({
  code: 'ipaidthat',
  name: 'iPaidThat',
  docs: 'https://ipaidthat.io/inv/api/v3/',
  hosts: ['ipaidthat.io'],
  settings: Settings,
  requestSettings: RequestSettings,
  // It answers {field: [text]}: the first field of this API that a refusal is about, or its detail.
  errors: {
    message: ['/detail', '/non_field_errors/0', '/customer/0', '/sender/0', '/due_date/0', '/issue_date/0', '/name/0', '/email/0',
      '/unit_price/0', '/quantity/0', '/country/0', '/vat/0'],
    map: { 401: 'authentication_error', 403: 'authentication_error' }
  },
  check: (call) =>
    call.http.get(...ask(call, 'customers', { query: { page_size: 1 } }),
      Type.Object({ count: Type.Integer(), results: Type.Array(Type.Unknown()) })),
  services: {
    invoicing: {
      documentTypes: ['INVOICE'],
      sendByEmail: true,
      requires: ['/number', '/customer/name', '/lines/0/quantity', '/lines/0/unitPrice', '/total'],
      limits,
      carries,
      ignores: [{ at: ['/invoicing/reference', '/invoicing/paymentTerms'], because: 'iPaidThat has no field for it.' }],
      // An invoice can be read by its id at once. A validation that was cut off may still run for its whole time limit.
      idempotency: { kind: 'lookup', visibleAfter: 60 },
      statuses: {
        validated: 'open',
        'not paid': 'open',
        'partially paid': 'open',
        'past due': 'open',
        paid: 'paid',
        canceled: 'void'
      },
      poll: { until: 120 * day },

      check (request) {
        fieldsOf(request, { due: request.invoicing.dueDate, label: undefined })
        return []
      },

      ...draftFirst({
        async prepare (request: Request, call: Call) {
          const { requestSettings: { paymentCollectionLabel: label }, settings: { sender }, http } = call
          const { invoice, items, customer } = fieldsOf(request, { due: request.invoicing.dueDate, label })
          const known = request.invoicing.customerId
          const owner = known === undefined
            ? (await http.post(...ask(call, 'customers', { json: customer }), Created)).id
            : Number(known)
          const json = { external_id: call.reference, customer: owner, sender, ...invoice }
          const { id } = await http.post(...ask(call, 'invoices', { json }), Created)
          call.onRefusal((taking) => taking.delete(...ask(call, pathOf(String(id))), Type.Unknown()))
          for (const item of items) await http.post(...ask(call, 'invoicesimpleitems', { json: { invoice: id, ...item } }), Created)
          return String(compare(await read(String(id), call), invoiceOf(request.data)).id)
        },
        find,
        findUnrecorded,
        async issue (draft, request, call) {
          const json = { send_email: request.invoicing.sendByEmail === true, sync_with_ipaidthat: true }
          await call.http.post(...ask(call, pathOf(draft, '/validate'), { json }), Validated)
          return answer(compare(await read(draft, call), invoiceOf(request.data)))
        },
        withdraw: (draft, _request, call, http) => http.delete(...ask(call, pathOf(draft)), Type.Unknown())
      }),

      status: async ({ id }, call) => ({ status: (await read(id, call)).status }),

      async document ({ id }, call) {
        const { number = id } = answer(await read(id, call))
        const [url, request] = ask(call, pathOf(id, '/to_pdf'))
        return await call.http.download(url, { ...request, filename: `${number}.pdf` })
      }
    }
  }
})
