import { defineProvider, draftFirst, invoiceOf, Type } from '@dispatch/core/provider'
import { answer, approve, find, findUnrecorded, Invoices, makeDraft, pathOf, read, type Request, withdraw } from './api.ts'
import { attach, attachmentLimits } from './attachments.ts'
import { contactFields, contactOf } from './contact.ts'
import { invoiceFields, referencesOf } from './invoice.ts'
import { carries, limits } from './limits.ts'
import { ask, type Call, tenantSuggestions } from './request.ts'
import { Settings } from './settings.ts'

/** https://developer.xero.com/documentation/guides/webhooks/overview/ */
const Events = Type.Object({
  events: Type.Array(Type.Object({
    resourceId: Type.String(),
    eventCategory: Type.String(),
    eventType: Type.String(),
    eventDateUtc: Type.String()
  }))
})

const minute = 60
const day = 24 * 60 * minute

export default defineProvider({
  code: 'xero',
  name: 'Xero',
  docs: 'https://developer.xero.com/documentation/api/accounting/invoices',
  hosts: ['api.xero.com', 'identity.xero.com', 'login.xero.com'],
  settings: Settings,
  connect: {
    authorizationUrl: 'https://login.xero.com/identity/connect/authorize',
    tokenUrl: 'https://identity.xero.com/connect/token',
    scope: 'offline_access accounting.invoices accounting.contacts accounting.attachments',
    clientId: 'clientId',
    clientSecret: 'clientSecret'
  },
  errors: { at: ['/Type', '/Title'], message: ['/Elements/0/ValidationErrors/0/Message', '/Detail', '/Message'] },
  check: async (call) => await call.http.get(...await ask(call, 'Invoices', { query: { page: '1', pageSize: '1' } }), Invoices),
  suggestions: { tenantId: tenantSuggestions },
  services: {
    invoicing: {
      documentTypes: ['INVOICE'],
      attachments: attachmentLimits,
      requires: ['/number', '/currency', '/customer/name', '/lines/0/quantity', '/lines/0/unitPrice', '/total'],
      limits,
      carries,
      // An invoice can be read by its id at once.
      idempotency: { kind: 'lookup', visibleAfter: minute },
      statuses: { AUTHORISED: 'open', PAID: 'paid', VOIDED: 'void', DELETED: 'void' },
      poll: { until: 120 * day },

      check (request, { settings }) {
        invoiceFields(request, settings)
        if (request.invoicing.customerId === undefined) contactFields(invoiceOf(request.data))
        return []
      },

      ...draftFirst({
        async prepare (request: Request, call: Call) {
          const fields = invoiceFields(request, call.settings)
          const contact = { ContactID: await contactOf(request, call) }
          const draft = await makeDraft({ ...fields, Contact: contact }, invoiceOf(request.data), call)
          await attach(draft, request.attachments ?? [], call)
          return draft
        },
        find,
        findUnrecorded,
        issue: (draft, request, call) => approve(draft, { ...invoiceOf(request.data), references: referencesOf(request) }, call),
        withdraw: (draft, _request, call, http) => withdraw(draft, call, http)
      }),

      status: async ({ id }, call) => answer(await read(id, call)),

      async document ({ id }, call) {
        const [url, request] = await ask(call, pathOf(id), { headers: { accept: 'application/pdf' } })
        return await call.http.download(url, { ...request, filename: `${id}.pdf` })
      }
    }
  },
  webhooks: {
    invoicing: {
      verify: { kind: 'hmac', header: 'x-xero-signature', algorithm: 'sha256', encoding: 'base64', secret: 'webhookKey' },
      body: Events,
      read: ({ events }) =>
        events.filter(({ eventCategory }) => eventCategory === 'INVOICE').map(({ resourceId: remoteId, eventType, eventDateUtc: at }) => ({
          remoteId,
          type: eventType,
          at
        })),
      events: {},
      // An event says that an invoice has changed, and not how.
      confirm: true,
      // Xero sends some of them with a wrong signature, and wants those refused: "intent to receive".
      handshakes: [{ when: { at: { body: '/lastEventSequence' }, is: '0' }, proof: true }]
    }
  }
})
