import { defineProvider, draftFirst, Type } from '@dispatch/core/provider'
import { type Call, change, check, checkEnvironment, Envelope, envelopes, find, findTransaction, withdraw } from './api.ts'
import { prepare } from './prepare.ts'
import { Settings } from './settings.ts'
import { checkSigners, locales } from './signers.ts'

/** The statuses of sent envelopes, as delivery statuses. */
const statuses = {
  sent: 'started',
  delivered: 'viewed',
  signed: 'signed',
  completed: 'completed',
  declined: 'declined',
  voided: 'cancelled'
} as const

/** The signer whom an event is about. */
const Event = Type.Object({ envelopeId: Type.String(), recipientId: Type.Optional(Type.String()) })

export default defineProvider({
  code: 'docusign',
  name: 'Docusign',
  docs: 'https://developers.docusign.com/docs/esign-rest-api/reference/envelopes/',
  hosts: ['account.docusign.com', 'account-d.docusign.com', '*.docusign.net'],
  sandbox: { kind: 'configuration' },
  settings: Settings,
  errors: {
    at: '/errorCode',
    message: '/message',
    map: {
      AUTHORIZATION_INVALID_TOKEN: 'authentication_error',
      PARTNER_AUTHENTICATION_FAILED: 'authentication_error',
      USER_AUTHENTICATION_FAILED: 'authentication_error',
      USER_DOES_NOT_BELONG_TO_SPECIFIED_ACCOUNT: 'authentication_error',
      USER_LACKS_PERMISSIONS: 'authentication_error',
      // Docusign used to answer both with 400, before it had 429.
      BURST_APIINVOCATION_LIMIT_EXCEEDED: 'provider_unavailable',
      HOURLY_APIINVOCATION_LIMIT_EXCEEDED: 'provider_unavailable'
    }
  },
  check,
  services: {
    esign: {
      signatureTypes: ['SIMPLE'],
      // A recipient has an id of their own. Only two with the same name, address and order are refused.
      sameAddress: true,
      usesPhoneNumber: 'phoneAuthentication',
      locales,
      check ({ esign: { signers } }, { settings: { baseHost }, sandbox }) {
        checkEnvironment({ sandbox, baseHost })
        checkSigners(signers)
        return []
      },
      // An envelope can be read by its id at once. A request that was cut off may still run for its whole time limit.
      idempotency: { kind: 'lookup', visibleAfter: 60 },
      timeLimit: 100,
      statuses,

      // Nobody is told of a draft before it is sent.
      ...draftFirst({
        prepare,
        find,
        issue: (draft, _request, call: Call) => change(draft, { status: 'sent' }, call),
        findUnrecorded: findTransaction,
        withdraw: (draft, _request, call, http) => withdraw(draft, call, http)
      }),

      async status ({ id }, call) {
        return { status: (await call.http.get(...envelopes(call, id), Envelope)).status }
      },

      async document ({ id }, call) {
        const [url, signedIn] = envelopes(call, id, '/documents/combined')
        return await call.http.download(url, { ...signedIn, filename: `${id}.pdf` })
      },

      async cancel ({ id }, call) {
        const { status } = await change(id, { status: 'voided', voidedReason: 'The sender has cancelled it.' }, call)
        return { status }
      }
    }
  },
  webhooks: {
    esign: {
      // Connect signs with each key of the account, each in its own header:
      // https://developers.docusign.com/platform/webhooks/connect/hmac/.
      verify: [
        { kind: 'basic', user: 'webhookUser', password: 'webhookPassword' },
        { kind: 'hmac', header: 'X-DocuSign-Signature-*', algorithm: 'sha256', encoding: 'base64', secret: 'webhookSecret' }
      ],
      body: Type.Object({ event: Type.String(), generatedDateTime: Type.String(), data: Event }),
      // Events have no id, and their `retryCount` changes when one is sent again.
      read: ({ event: type, generatedDateTime: time, data: { envelopeId: remoteId, recipientId = '' } }) => ({
        remoteId,
        type,
        eventId: [type, remoteId, recipientId, time].join(' ')
      }),
      events: {
        'envelope-sent': 'started',
        'recipient-delivered': 'viewed',
        'envelope-delivered': 'viewed',
        'recipient-completed': 'signed',
        'envelope-completed': 'completed',
        'recipient-declined': 'declined',
        'envelope-declined': 'declined',
        'envelope-voided': 'cancelled'
      }
    }
  }
})
