import { defineProvider, draftFirst, refused, Type } from '@dispatch/core/provider'
import { answer, ask, find, pathOf, read, Transaction, WithDocuments } from './api.ts'
import { prepare, signatureTypes } from './prepare.ts'
import { Settings } from './settings.ts'

/** Others than those of transactions carry another object, whose shape is not described. */
const Event = Type.Object({
  id: Type.String(),
  type: Type.String(),
  payload: Type.Object({ object: Type.Object({ id: Type.String({ pattern: '^tx_' }) }) })
})

export default defineProvider({
  code: 'universign',
  name: 'Universign',
  docs: 'https://apps.universign.com/docs/api/',
  hosts: ['api.universign.com', 'api.alpha.universign.com'],
  sandbox: { kind: 'configuration' },
  settings: Settings,
  services: {
    esign: {
      signatureTypes,
      locales: ['bg', 'ca', 'de', 'en', 'es', 'fr', 'it', 'nl', 'pl', 'pt', 'ro'],
      // What is read by its id is there at once; a start that was cut off may be at work for as long as it can take.
      idempotency: { kind: 'lookup', visibleAfter: 60 },
      timeLimit: 100,
      statuses: { started: 'started', completed: 'completed', archived: 'completed', cancelled: 'cancelled', expired: 'expired' },

      // Nobody is told of a draft before it is started.
      ...draftFirst({
        prepare,
        find,
        issue: async (draft, _request, call) => answer(await call.http.post(...ask(call, `${pathOf(draft)}/start`), Transaction))
      }),

      status: async ({ id }, call) => ({ status: (await read(id, call)).state }),

      async document ({ id }, call) {
        const { state, documents: [document] } = await call.http.get(...ask(call, pathOf(id)), WithDocuments)
        if (document === undefined || !signed.includes(state)) throw refused('not_completed', `Not everybody has signed: the transaction is ${state}.`)
        const [url, request] = ask(call, `${pathOf(id)}/archive/documents/${encodeURIComponent(document.id)}/download`)
        return await call.http.download(url, { ...request, filename: `${id}.pdf` })
      },

      cancel: async ({ id }, call) => ({ status: (await call.http.post(...ask(call, `${pathOf(id)}/cancel`), Transaction)).state })
    }
  },
  webhooks: {
    esign: {
      verify: { kind: 'jws', header: 'x-jws-signature', algorithm: 'PS256', jwks: 'https://api.universign.com/v1/webhooks/jwks.json' },
      body: Event,
      read: ({ id: eventId, type, payload: { object: { id: remoteId } } }) => ({ eventId, remoteId, type }),
      events: {
        'transaction.lifecycle.started': 'started',
        'transaction.lifecycle.completed': 'completed',
        'transaction.lifecycle.expired': 'expired',
        'transaction.lifecycle.cancelled': 'cancelled'
      }
    }
  }
})

const signed = ['completed', 'archived']
