import { defineProvider, draftFirst, type Json, refused, Type } from '@dispatch/core/provider'
import { answer, ask, find, pathOf, reasonOf, Settings, SignatureRequest, withdraw } from './api.ts'
import { prepare } from './prepare.ts'

/** https://developers.yousign.com/docs/set-up-webhooks */
const events = {
  'signature_request.activated': 'started',
  'signature_request.done': 'completed',
  'signature_request.declined': 'declined',
  'signature_request.expired': 'expired',
  'signature_request.canceled': 'cancelled',
  'signer.link_opened': 'viewed',
  'signer.done': 'signed'
} as const

export default defineProvider({
  code: 'yousign',
  name: 'Yousign',
  docs: 'https://developers.yousign.com/reference/post-signature_requests-1',
  hosts: ['api.yousign.app', 'api-sandbox.yousign.app'],
  sandbox: { kind: 'configuration' },
  settings: Settings,
  errors: { at: '/type', message: ['/detail', '/message'] },
  services: {
    esign: {
      signatureTypes: ['SIMPLE'],
      usesPhoneNumber: true,
      locales: ['de', 'en', 'es', 'fr', 'it', 'nl', 'pl', 'pt'],
      // A request can be read by its id at once. An activation that was cut off may still run for its whole time limit.
      idempotency: { kind: 'lookup', visibleAfter: 60 },
      statuses: {
        ongoing: 'started',
        approval: 'started',
        done: 'completed',
        declined: 'declined',
        rejected: 'declined',
        expired: 'expired',
        canceled: 'cancelled',
        deleted: 'cancelled'
      },

      // Nobody is told of a draft before it is activated.
      ...draftFirst({
        prepare,
        find,
        issue: async (draft, _request, call) => answer(await call.http.post(...ask(call, `${pathOf(draft)}/activate`), SignatureRequest)),
        withdraw: (draft, _request, call, http) => withdraw(draft, call, http)
      }),

      async status ({ id }, call) {
        const { status, decline_information: declined } = await call.http.get(...ask(call, pathOf(id)), SignatureRequest)
        return { status, ...reasonOf(declined) }
      },

      async document ({ id }, call) {
        const { status } = await call.http.get(...ask(call, pathOf(id)), SignatureRequest)
        if (status !== 'done') throw refused('not_completed', `Not everybody has signed: the request is ${status}.`)
        const [url, request] = ask(call, `${pathOf(id)}/documents/download`, { query: { version: 'completed', archive: 'false' } })
        return await call.http.download(url, { ...request, filename: `${id}.pdf` })
      },

      cancel: async ({ id }, call) => ({
        status:
          (await call.http.post(...ask(call, `${pathOf(id)}/cancel`, { json: { reason: 'contractualization_aborted' } }), SignatureRequest))
            .status
      })
    }
  },
  webhooks: {
    esign: {
      verify: {
        kind: 'hmac',
        header: 'X-Yousign-Signature-256',
        algorithm: 'sha256',
        encoding: 'hex',
        prefix: 'sha256=',
        secret: 'webhookSecret'
      },
      body: Type.Object({
        event_id: Type.String(),
        event_name: Type.String(),
        data: Type.Object({
          signature_request: Type.Object({ id: Type.String(), decline_information: Type.Optional(Type.Unsafe<Json>({})) })
        })
      }),
      read: ({ event_id: eventId, event_name: type, data: { signature_request: { id: remoteId, decline_information: declined } } }) => ({
        eventId,
        remoteId,
        type,
        ...reasonOf(declined)
      }),
      events
    }
  }
})
