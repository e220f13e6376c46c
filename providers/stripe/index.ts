import { defineProvider, draftFirst, invoiceOf, refused, Type } from '@dispatch/core/provider'
import { answer, ask, creditedBy, Event, find, Paper, pathOf, read, send, withdraw } from './api.ts'
import { carries } from './carries.ts'
import { issueCredit } from './credit.ts'
import { ignores, limits } from './limits.ts'
import { planOf } from './plan.ts'
import { prepare } from './prepare.ts'
import { RequestSettings, Settings } from './settings.ts'
import { checkIssued } from './totals.ts'

export default defineProvider({
  code: 'stripe',
  name: 'Stripe',
  docs: 'https://stripe.com/docs/api/invoices',
  hosts: ['api.stripe.com', 'files.stripe.com', 'pay.stripe.com'],
  sandbox: { kind: 'configuration', key: { setting: 'secretKey', test: '_test_' } },
  settings: Settings,
  requestSettings: RequestSettings,
  errors: {
    // Some errors have no code; their type is used instead.
    at: ['/error/code', '/error/type'],
    message: '/error/message',
    map: {
      // An earlier request with the same key is still running.
      idempotency_key_in_use: 'outcome_unknown',
      // Another request, or Stripe itself, has locked the object: nothing was done
      // (https://stripe.com/docs/rate-limits#object-lock-timeouts).
      lock_timeout: 'provider_unavailable',
      // Stripe answers this with 429, and some of its limiters with 400.
      rate_limit: 'provider_unavailable',
      api_key_expired: 'authentication_error',
      platform_api_key_expired: 'authentication_error'
    }
  },
  // The balance: an account that charges has one, and a key that may not read it is told so.
  check: (call) => call.http.get(...ask(call, 'balance'), Type.Object({ object: Type.Literal('balance') })),
  services: {
    invoicing: {
      documentTypes: ['INVOICE', 'QUOTE', 'CREDIT'],
      sendByEmail: ['INVOICE'],
      requires: ['/number', '/currency', '/customer/name', '/customer/email', '/lines/0/quantity', '/lines/0/unitPrice', '/total'],
      limits,
      carries,
      ignores,
      // An object can be read by its id at once. A request that was cut off may still run for its whole time limit.
      idempotency: { kind: 'lookup', visibleAfter: 60 },
      timeLimit: 100,
      // The statuses of an invoice, a quote and a credit note.
      statuses: {
        open: 'open',
        paid: 'paid',
        uncollectible: 'uncollectible',
        void: 'void',
        accepted: 'accepted',
        canceled: 'void',
        issued: 'accepted'
      },
      poll: { until: 120 * 24 * 3600 },

      check (request, known) {
        planOf(request, known)
        return []
      },

      status: async ({ id }, call) => ({ status: (await read(id, call)).status }),

      ...draftFirst({
        prepare,
        find,
        async issue (draft, request, call) {
          const invoice = creditedBy(draft)
          // Sending a draft also finalizes it.
          const last = request.invoicing.sendByEmail === true ? 'send' : 'finalize'
          const issued = invoice === undefined
            ? await call.http.post(...send(call, last, `${pathOf(draft)}/${last}`), Paper)
            : await issueCredit(invoice, request, call)
          checkIssued(issued, invoiceOf(request.data))
          return answer(issued, call)
        },
        withdraw: async (draft, _request, call, http) => creditedBy(draft) === undefined ? await withdraw(draft, call, http) : undefined
      }),

      async document ({ id }, call) {
        if (id.startsWith('qt_')) {
          const [url, request] = ask(call, `${pathOf(id)}/pdf`, {}, 'files')
          return await call.http.download(url, { ...request, filename: `${id}.pdf` })
        }
        const { number, pdf, invoice_pdf: url = pdf } = await read(id, call)
        if (typeof url !== 'string') throw refused('no_document', 'Stripe has made no document of this invoice yet.')
        return await call.http.download(url, { filename: `${number ?? id}.pdf` })
      }
    }
  },
  // https://stripe.com/docs/api/events/types
  webhooks: {
    invoicing: {
      verify: { kind: 'stamped', header: 'stripe-signature', secret: 'webhookSecret' },
      body: Event,
      read: ({ id: eventId, type, data: { object: { id: remoteId } } }) => ({ eventId, type, remoteId }),
      events: {
        'invoice.paid': 'paid',
        'invoice.voided': 'void',
        'invoice.marked_uncollectible': 'uncollectible',
        'quote.accepted': 'accepted',
        'quote.canceled': 'void'
      }
    }
  }
})
