import { defineProvider, draftFirst, refused, Type } from '@dispatch/core/provider'
import { answer, ask, find, pathOf, readTransaction, Transaction, WithDocuments, withdraw } from './api.ts'
import { Event, events, read, statuses, wordOf } from './events.ts'
import { prepare } from './prepare.ts'
import { RequestSettings, Settings } from './settings.ts'

/** Each environment signs its events with its own keys. */
const signedBy = { kind: 'jws', header: 'x-jws-signature', algorithm: 'PS256' } as const

export default defineProvider({
  code: 'universign',
  name: 'Universign',
  docs: 'https://apps.universign.com/docs/api/',
  hosts: ['api.universign.com', 'api.alpha.universign.com'],
  sandbox: { kind: 'configuration' },
  settings: Settings,
  requestSettings: RequestSettings,
  // Universign does not describe the body of an error. Most vendors have code and message at these places. Otherwise the body is shown
  // unchanged.
  errors: { at: ['/error/code', '/code'], message: ['/error/message', '/error_description', '/message', '/error'] },
  services: {
    esign: {
      signatureTypes: ['SIMPLE', 'ADVANCED', 'QUALIFIED'],
      // Each signer signs with a code that is sent to their phone. For a simple signature, Universign itself asks for a number that
      // is not given.
      usesPhoneNumber: true,
      phoneNumberFor: ['ADVANCED', 'QUALIFIED'],
      limits: [{
        at: '/esign/expiresInDays',
        fits: Type.Integer({ maximum: 60 }),
        because: 'A transaction of Universign lives for 60 days at most.'
      }],
      // A field has the size of the signature that is put there.
      ignores: [{ at: ['/signatures/*/width', '/signatures/*/height'] }, {
        at: ['/settings/qualifiedCertificate'],
        when: { '/esign/signatureType': Type.Enum(['SIMPLE', 'QUALIFIED']) },
        because: 'It is about advanced signatures.'
      }],
      locales: ['bg', 'ca', 'de', 'en', 'es', 'fr', 'it', 'nl', 'pl', 'pt', 'ro'],
      // A transaction can be read by its id at once. A start that was cut off may still run for its whole time limit.
      idempotency: { kind: 'lookup', visibleAfter: 60 },
      timeLimit: 100,
      statuses,

      // Nobody is told of a draft before it is started.
      ...draftFirst({
        prepare,
        find,
        issue: async (draft, _request, call) => answer(await call.http.post(...ask(call, `${pathOf(draft)}/start`), Transaction)),
        withdraw: (draft, _request, call, http) => withdraw(draft, call, http)
      }),

      status: async ({ id }, call) => ({ status: wordOf(await readTransaction(id, call)) }),

      async document ({ id }, call) {
        const { state, documents: [document] } = await call.http.get(...ask(call, pathOf(id)), WithDocuments)
        if (document === undefined || !signed.includes(state)) {
          throw refused('not_completed', `Not everybody has signed: the transaction is ${state}.`)
        }
        const [url, request] = ask(call, `${pathOf(id)}/archive/documents/${encodeURIComponent(document.id)}/download`)
        return await call.http.download(url, { ...request, filename: `${id}.pdf` })
      },

      cancel: async ({ id }, call) => ({ status: (await call.http.post(...ask(call, `${pathOf(id)}/cancel`), Transaction)).state })
    }
  },
  webhooks: {
    esign: {
      verify: [
        { ...signedBy, jwks: 'https://api.universign.com/v1/webhooks/jwks.json', sandbox: false },
        { ...signedBy, jwks: 'https://api.alpha.universign.com/v1/webhooks/jwks.json', sandbox: true }
      ],
      body: Event,
      read,
      events
    }
  }
})

const signed = ['completed', 'archived']
