import { at, defineProvider } from '@dispatch/core/provider'
import { cancel, emailing, Event, mailbox, mailing, paying, read, signedCopy, signing, status, storing, texting } from './deliveries.ts'
import { claimNumber, invoiceAnswer } from './invoicing.ts'
import { magicNumber, magicWord } from './magic.ts'
import { lookup, send } from './send.ts'
import { RequestSettings, Settings } from './settings.ts'

/** Every accepted dispatch can be found at once by our reference. */
const findable = { idempotency: { kind: 'lookup', visibleAfter: 0 }, lookup } as const

/** Seconds: services whose events nobody sends are polled for a day. */
const polled = { until: 24 * 3600 }

export default defineProvider({
  code: 'simulator',
  name: 'Simulator',
  sandbox: { kind: 'flag' },
  settings: Settings,
  requestSettings: RequestSettings,
  services: {
    invoicing: {
      ...findable,
      documentTypes: ['INVOICE', 'E_INVOICE', 'QUOTE', 'CREDIT'],
      sendByEmail: true,
      requires: ['/number'],
      attachments: {},
      statuses: paying,
      status,
      poll: polled,
      say: ({ id, code, message }, call) =>
        send({ service: 'invoicing', id, code, message }, undefined, call, () => ({ status: 'received' })),
      dispatch (request, call) {
        const { invoicing, data, document, metadata, attachments = [] } = request
        const beside = attachments.length === 0 ? {} : { attachments: [...attachments] }
        const word = magicWord(invoicing.reference, at(data, '/customer/email'), at(data, '/customer/name'))
        return send({ service: 'invoicing', invoicing, data, document, metadata, ...beside }, word, call,
          async (id) => invoiceAnswer(request, id, await claimNumber(request, call), call))
      }
    },

    esign: {
      ...findable,
      signatureTypes: ['SIMPLE', 'ADVANCED', 'QUALIFIED'],
      sameAddress: true,
      usesPhoneNumber: true,
      statuses: signing,
      status,
      cancel,
      document: signedCopy,
      dispatch ({ esign, document, signatures, metadata }, call) {
        const word = magicWord(...esign.signers.map(({ email }) => email))
        return send({ service: 'esign', esign, document, signatures: signatures.map((place) => ({ ...place })), metadata }, word, call,
          (id) => ({ status: 'started', url: `https://simulator.invalid/sign/${id}` }))
      }
    },

    postal: {
      ...findable,
      mailTypes: ['SIMPLE', 'REGISTERED'],
      color: true,
      duplex: true,
      statuses: mailing,
      status,
      cancel,
      dispatch ({ postal, document, metadata }, call) {
        return send({ service: 'postal', postal, document, metadata }, magicWord(postal.recipient.name), call,
          () => ({ status: 'accepted' }))
      }
    },

    sms: {
      ...findable,
      alphanumericSender: true,
      statuses: texting,
      status,
      poll: polled,
      dispatch ({ sms, metadata }, call) {
        return send({ service: 'sms', sms, metadata }, magicNumber(sms.phoneNumber), call, () => ({ status: 'sent' }))
      }
    },

    email: {
      maxReplyTo: 10,
      internationalAddresses: true,
      ...findable,
      statuses: emailing,
      status,
      poll: polled,
      dispatch ({ email, inline, attachments, metadata }, call) {
        return send({ service: 'email', email, inline, attachments, metadata }, magicWord(...email.to), call, () => ({ status: 'sent' }))
      }
    },

    upload: {
      ...findable,
      statuses: storing,
      status,
      poll: polled,
      dispatch ({ document, metadata }, call) {
        return send({ service: 'upload', document, metadata }, magicWord(document.filename.replace(/\.\w+$/, '')), call,
          (id) => ({ status: 'stored', url: `https://simulator.invalid/files/${id}` }))
      }
    }
  },
  webhooks: {
    esign: {
      // A key in this file would make its private half public, and anybody could forge an event. In development the server has its own key
      // and also sends the events. In production there is no key, and no event is accepted.
      verify: { kind: 'jws', header: 'x-jws-signature', algorithm: 'PS256', jwks: { keys: [] } },
      body: Event,
      read,
      events: signing
    },
    postal: {
      verify: { kind: 'basic', user: 'webhookUser', password: 'webhookPassword' },
      body: Event,
      read,
      events: mailing
    },
    email: {
      verify: { kind: 'basic', user: 'webhookUser', password: 'webhookPassword' },
      body: Event,
      read,
      events: mailbox
    }
  }
})
