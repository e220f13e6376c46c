import { defineProvider, refused, Type } from '@dispatch/core/provider'
import { ask, find, pathOf, read, reasonOf, Request, statuses, wordOf } from './api.ts'
import { partsOf } from './parts.ts'
import { Settings } from './settings.ts'

/** https://docs.signaturit.com/api/latest#events */
const Event = Type.Object({
  type: Type.String({ minLength: 1 }),
  created_at: Type.Optional(Type.String()),
  document: Type.Object({
    id: Type.String({ minLength: 1 }),
    signature: Type.Object({ id: Type.String({ minLength: 1 }) }),
    events: Type.Optional(Type.Array(Type.Object({ decline_reason: Type.Optional(Type.Union([Type.String(), Type.Null()])) })))
  })
})

export default defineProvider({
  code: 'signaturit',
  name: 'Signaturit',
  docs: 'https://docs.signaturit.com/api/latest',
  hosts: ['api.signaturit.com', 'api.sandbox.signaturit.com'],
  sandbox: { kind: 'configuration' },
  settings: Settings,
  errors: { message: '/message', map: { 401: 'authentication_error', 403: 'authentication_error' } },
  check: (call) => call.http.get(...ask(call, '.json', { query: { limit: 1 } }), Type.Array(Type.Object({ id: Type.String() }))),
  services: {
    esign: {
      signatureTypes: ['SIMPLE', 'ADVANCED'],
      usesPhoneNumber: true,
      locales: ['ca', 'de', 'en', 'es', 'fr', 'it', 'nl', 'pt'],
      check ({ esign: { signers } }) {
        const orders = new Set(signers.map(({ order = 1 }) => order)).size
        const message =
          'At Signaturit all sign at once, or one after the other: give each signer an order of their own, or none to anybody.'
        return orders === 1 || orders === signers.length ? [] : [{ at: '/esign/signers', code: 'mixed_order', message }]
      },
      // It is found by the field once it is in the index of the list. A request that was cut off may run for its whole time limit.
      idempotency: { kind: 'lookup', visibleAfter: 300 },
      timeLimit: 100,
      statuses,

      async dispatch (request, call) {
        const made = await call.http.post(...ask(call, '.json', { multipart: partsOf(request, call) }), Request)
        return { id: made.id, status: wordOf(made) }
      },

      lookup: ({ reference }, call) => find(reference, call),

      async status ({ id }, call) {
        const found = await read(id, call)
        return { status: wordOf(found), ...reasonOf(found) }
      },

      async document ({ id }, call) {
        const found = await read(id, call)
        const last = found.documents.at(-1)
        if (last === undefined || wordOf(found) !== 'completed') {
          throw refused('not_completed', `Not everybody has signed: the request is ${wordOf(found)}.`)
        }
        const [url, request] = ask(call, `${pathOf(id)}/documents${pathOf(last.id)}/download/signed`)
        return await call.http.download(url, { ...request, filename: `${id}.pdf` })
      },

      cancel: async ({ id }, call) => ({
        status: wordOf(await call.http.patch(...ask(call, `${pathOf(id)}/cancel.json`), Request))
      })
    }
  },
  webhooks: {
    esign: {
      // Nobody signs: the address that is entered at Signaturit has the credentials of the server.
      verify: { kind: 'basic' },
      body: Event,
      read: ({ type, created_at: at = '', document: { id, signature, events = [] } }) => {
        const reason = events.map(({ decline_reason: why }) => why).find((why) => typeof why === 'string')
        return {
          remoteId: signature.id,
          type,
          eventId: `${type} ${id} ${at}`,
          ...(type === 'document_declined' && typeof reason === 'string' && { reason })
        }
      },
      // A document is that of one signer: whether all have signed, the verb `status` tells.
      confirm: ['document_completed'],
      events: {
        document_opened: 'viewed',
        document_signed: 'signed',
        document_completed: 'completed',
        document_declined: 'declined',
        document_expired: 'expired',
        document_canceled: 'cancelled'
      }
    }
  }
})
