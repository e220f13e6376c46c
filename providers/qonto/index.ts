import { defineProvider, draftFirst, invoiceOf, refused, Type } from '@dispatch/core/provider'
import { accounts, answer, ask, Attachment, compare, find, Invoice, pathOf, read } from './api.ts'
import { clientOf } from './client.ts'
import { carries, invoiceFields, limits } from './invoice.ts'
import { type Call, type Request, RequestSettings, Settings } from './settings.ts'

const day = 24 * 3600

export default defineProvider({
  code: 'qonto',
  name: 'Qonto',
  docs: 'https://docs.qonto.com/api-reference/business-api/invoicing/client-invoices/create-a-client-invoice',
  hosts: ['thirdparty.qonto.com', 'thirdparty-sandbox.staging.qonto.co', 'qonto.s3.eu-central-1.amazonaws.com'],
  sandbox: { kind: 'configuration' },
  settings: Settings,
  requestSettings: RequestSettings,
  errors: { at: '/errors/0/code', message: '/errors/0/detail' },
  check: (call) => call.http.get(...ask(call, 'organization'), Type.Object({ organization: Type.Object({}) })),
  suggestions: { iban: accounts },
  services: {
    invoicing: {
      documentTypes: ['INVOICE'],
      requires: ['/number', '/currency', '/date', '/customer/name', '/lines/0/quantity', '/lines/0/unitPrice', '/total'],
      limits,
      carries,
      // An invoice can be read by its id at once. A request that was cut off may run for its whole time limit.
      idempotency: { kind: 'lookup', visibleAfter: 60 },
      statuses: { unpaid: 'open', paid: 'paid', canceled: 'void' },
      poll: { until: 120 * day },

      check (request, { settings: { iban } }) {
        invoiceFields(request, { iban, label: undefined })
        return []
      },

      ...draftFirst({
        async prepare (request: Request, call: Call) {
          const { settings: { iban }, requestSettings: { paymentCollectionLabel: label } } = call
          const fields = invoiceFields(request, { iban, label })
          const json = { client_id: await clientOf(request, call), status: 'draft', ...fields }
          // Qonto's clients send this key with each creation; what it does for invoices is not documented, so nothing relies on it.
          const headers = { 'x-qonto-idempotency-key': call.reference }
          const { client_invoice: made } = await call.http.post(...ask(call, 'client_invoices', { headers, json }), Invoice)
          call.onRefusal((http) => http.delete(...ask(call, pathOf(made.id)), Type.Unknown()))
          return compare(made, invoiceOf(request.data)).id
        },
        find,
        async issue (draft, request, call) {
          const { client_invoice: issued } = await call.http.post(...ask(call, pathOf(draft, '/finalize')), Invoice)
          return answer(compare(issued, invoiceOf(request.data)), call)
        },
        withdraw: (draft, _request, call, http) => http.delete(...ask(call, pathOf(draft)), Type.Unknown())
      }),

      status: async ({ id }, call) => ({ status: (await read(id, call)).status }),

      async document ({ id }, call) {
        const { attachment_id: attached, number } = await read(id, call)
        if (typeof attached !== 'string') throw refused('no_document', 'Qonto has made no document of this invoice yet.')
        const { attachment: { url } } = await call.http.get(...ask(call, `attachments/${encodeURIComponent(attached)}`), Attachment)
        return await call.http.download(url, { filename: `${number ?? id}.pdf` })
      }
    }
  },
  webhooks: {
    invoicing: {
      verify: { kind: 'stamped', header: 'X-Qonto-Signature', secret: 'webhookSecret' },
      body: Type.Object({ id: Type.String(), type: Type.String(), data: Type.Object({ id: Type.String({ minLength: 1 }) }) }),
      read: ({ id: eventId, type, data: { id: remoteId } }) => ({ eventId, type, remoteId }),
      events: {},
      // An event says that an invoice has changed, and not what the e-invoice has become.
      confirm: true
    }
  }
})
