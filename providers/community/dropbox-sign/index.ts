import { defineProvider, failureOf, type HttpCall, type Static, Type } from '@dispatch/core/provider'
import { partsOf } from './parts.ts'
import { type Call, Settings } from './settings.ts'

const Signature = Type.Object({ status_code: Type.String(), decline_reason: Type.Optional(Type.Union([Type.String(), Type.Null()])) })
const SignatureRequest = Type.Object({
  signature_request_id: Type.String({ minLength: 1 }),
  is_complete: Type.Boolean(),
  is_declined: Type.Boolean(),
  has_error: Type.Boolean(),
  metadata: Type.Optional(Type.Object({ dispatch_reference: Type.Optional(Type.String()) })),
  signatures: Type.Array(Signature)
})
type SignatureRequest = Static<typeof SignatureRequest>
const One = Type.Object({ signature_request: SignatureRequest })
const List = Type.Object({ signature_requests: Type.Array(SignatureRequest) })

/** https://developers.hellosign.com/docs/events/overview/ */
const Event = Type.Object({
  json: Type.Object({
    event: Type.Object({ event_time: Type.String(), event_type: Type.String({ minLength: 1 }) }),
    signature_request: Type.Object({ signature_request_id: Type.String({ minLength: 1 }) })
  })
})

export default defineProvider({
  code: 'dropbox-sign',
  name: 'Dropbox Sign',
  docs: 'https://developers.hellosign.com/api/reference/operation/signatureRequestSend/',
  hosts: ['api.hellosign.com'],
  sandbox: { kind: 'flag' },
  settings: Settings,
  errors: {
    at: '/error/error_name',
    message: '/error/error_msg',
    map: { unauthorized: 'authentication_error', forbidden: 'authentication_error' }
  },
  check: (call) => call.http.get(...ask(call, '/list', { query: { page_size: 1 } }), List),
  services: {
    esign: {
      signatureTypes: ['SIMPLE'],
      usesPhoneNumber: true,
      ignores: [{ at: ['/esign/locale'], because: 'Dropbox Sign chooses the language by the account.' }],
      // "There may be a minor delay" before a search finds a request. One that was cut off may run for its whole time limit.
      idempotency: { kind: 'lookup', visibleAfter: 300 },
      statuses: {
        awaiting_signature: 'started',
        signed: 'signed',
        complete: 'completed',
        declined: 'declined',
        expired: 'expired',
        error: 'failed',
        canceled: 'cancelled'
      },

      dispatch: async (request, call) =>
        answer((await call.http.post(...ask(call, '/send', { multipart: partsOf(request, call) }), One)).signature_request),

      async lookup ({ reference }, call) {
        const { signature_requests: found } = await call.http.get(...ask(call, '/list', { query: { query: reference } }), List)
        const made = found.find(({ metadata }) => metadata?.dispatch_reference === reference)
        return made === undefined ? { found: 'absent' } : { found: 'accepted', response: answer(made) }
      },

      async status ({ id }, call) {
        try {
          const { signature_request: found } = await call.http.get(...ask(call, pathOf(id)), One)
          const reason = found.signatures.map(({ decline_reason: why }) => why).find((why) => typeof why === 'string')
          return { status: wordOf(found), ...(typeof reason === 'string' && { reason }) }
        } catch (error) {
          // "Gone" is what Dropbox Sign says of a request that was cancelled.
          if (failureOf(error)?.status === 410) return { status: 'canceled' }
          throw error
        }
      },

      document: ({ id }, call) => {
        const [url, request] = ask(call, `/files${pathOf(id)}`, { query: { file_type: 'pdf' } })
        return call.http.download(url, { ...request, filename: `${id}.pdf` })
      },

      async cancel ({ id }, call) {
        await call.http.post(...ask(call, `/cancel${pathOf(id)}`), Type.Unknown())
        return { status: 'canceled' }
      }
    }
  },
  webhooks: {
    esign: {
      form: 'multipart',
      json: ['/json'],
      verify: {
        kind: 'signature',
        signed: [{ body: '/json/event/event_time' }, { body: '/json/event/event_type' }],
        at: { body: '/json/event/event_hash' },
        algorithm: 'hmac-sha256',
        encoding: 'hex',
        key: { secret: 'apiKey' }
      },
      body: Event,
      read: ({ json: { event: { event_time: time, event_type: type }, signature_request: { signature_request_id: remoteId } } }) => ({
        eventId: `${remoteId} ${type} ${time}`,
        type,
        remoteId
      }),
      events: {},
      // Time and type alone are signed.
      confirm: true,
      acknowledge: 'Hello API Event Received'
    }
  }
})

function ask ({ settings: { apiKey } }: Pick<Call, 'settings'>, path: string, more: HttpCall = {}): [url: string, call: HttpCall] {
  return [`https://api.hellosign.com/v3/signature_request${path}`, { basic: [apiKey, ''], ...more }]
}

function pathOf (id: string): string {
  return `/${encodeURIComponent(id)}`
}

function wordOf ({ has_error: failed, is_declined: declined, is_complete: complete, signatures }: SignatureRequest): string {
  if (failed) return 'error'
  if (declined) return 'declined'
  if (complete) return 'complete'
  return ['expired', 'signed'].find((word) => signatures.some(({ status_code: code }) => code === word)) ?? 'awaiting_signature'
}

function answer (request: SignatureRequest): { id: string, status: string } {
  return { id: request.signature_request_id, status: wordOf(request) }
}
