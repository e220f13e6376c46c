import { defineProvider, draftFirst, invoiceOf, refused, Type } from '@dispatch/core/provider'
import { answer, ask, compare, Customer, Customers, find, Invoice, pathOf, read } from './api.ts'
import { carries, customerFields, invoiceFields, limits } from './invoice.ts'
import { type Call, type Request, RequestSettings, Settings } from './settings.ts'

const day = 24 * 3600

export default defineProvider({
  code: 'pennylane',
  name: 'Pennylane',
  docs: 'https://pennylane.readme.io/reference/postcustomerinvoices',
  hosts: ['app.pennylane.com'],
  settings: Settings,
  requestSettings: RequestSettings,
  errors: { at: ['/code', '/error'], message: ['/message', '/details/issue', '/error'] },
  check: (call) => call.http.get(...ask(call, 'customers', { query: { limit: 1 } }), Customers),
  services: {
    invoicing: {
      documentTypes: ['INVOICE'],
      requires: ['/number', '/currency', '/date', '/customer/name', '/lines/0/quantity', '/lines/0/unitPrice', '/total'],
      limits,
      carries,
      // An invoice can be read by its id at once. A request that was cut off may run for its whole time limit.
      idempotency: { kind: 'lookup', visibleAfter: 60 },
      statuses: { upcoming: 'open', late: 'open', partially_cancelled: 'open', paid: 'paid', cancelled: 'void' },
      poll: { until: 120 * day },

      check (request) {
        invoiceFields(request, undefined)
        return []
      },

      ...draftFirst({
        async prepare (request: Request, call: Call) {
          const { requestSettings: { paymentCollectionLabel: label }, settings: { template } } = call
          const fields = invoiceFields(request, label)
          const json = {
            customer_id: await customerOf(request, call),
            draft: true,
            external_reference: call.reference,
            ...(template !== undefined && { customer_invoice_template_id: template }),
            ...fields
          }
          const made = await call.http.post(...ask(call, 'customer_invoices', { json }), Invoice)
          call.onRefusal((http) => http.delete(...ask(call, pathOf(String(made.id))), Type.Unknown()))
          return String(compare(made, invoiceOf(request.data)).id)
        },
        find,
        async issue (draft, request, call) {
          const issued = await call.http.put(...ask(call, pathOf(draft, '/finalize')), Invoice)
          return answer(compare(issued, invoiceOf(request.data)))
        },
        withdraw: (draft, _request, call, http) => http.delete(...ask(call, pathOf(draft)), Type.Unknown())
      }),

      status: async ({ id }, call) => ({ status: (await read(id, call)).status }),

      async document ({ id }, call) {
        const { public_file_url: url, invoice_number: number } = await read(id, call)
        if (typeof url !== 'string') throw refused('no_document', 'Pennylane has made no document of this invoice yet.')
        return await call.http.download(url, { filename: `${number ?? id}.pdf` })
      }
    }
  }
})

/** The customer of the request, the one with our reference, or a new one. One that is there is never changed. */
async function customerOf ({ invoicing, data }: Request, call: Call): Promise<number> {
  if (invoicing.customerId !== undefined) return Number(invoicing.customerId)
  const json = customerFields(invoiceOf(data))
  const filter = JSON.stringify([{ field: 'external_reference', operator: 'eq', value: json.external_reference }])
  const { items: [known] } = await call.http.get(...ask(call, 'customers', { query: { filter } }), Customers)
  return (known ?? await call.http.post(...ask(call, 'company_customers', { json }), Customer)).id
}
