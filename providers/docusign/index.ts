import { defineProvider, draftFirst } from '@dispatch/core/provider'
import { type Call, change, check, checkEnvironment, envelopes, find, findTransaction, withdraw } from './api.ts'
import { Event, events, read, Reasoned, reasonOf, statuses, wordOf } from './events.ts'
import { prepare } from './prepare.ts'
import { Settings } from './settings.ts'
import { checkSigners, locales } from './signers.ts'

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
      // A tab has the size of the signature that is put there.
      ignores: [{ at: ['/signatures/*/width', '/signatures/*/height'] }],
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
        const [url, signedIn] = envelopes(call, id)
        const envelope = await call.http.get(url, { ...signedIn, query: { include: 'recipients' } }, Reasoned)
        return { status: wordOf(envelope.status, envelope), ...reasonOf(envelope) }
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
      body: Event,
      read,
      events,
      // Only a configuration that includes the data says why.
      confirm: ['envelope-declined', 'envelope-voided']
    }
  }
})
