import { defineProvider, draftFirst, type Found, given, type HttpCall, type JsonObject, refused, type Static,
  Type } from '@dispatch/core/provider'
import { detailsOf } from './details.ts'
import { type Call, type Request, Settings } from './settings.ts'

const Id = Type.String({ minLength: 1 })
const Party = Type.Object({ rejection_reason: Type.Optional(Type.Union([Type.String(), Type.Null()])) })
const Document = Type.Object({ id: Id, status: Type.String({ minLength: 1 }), parties: Type.Optional(Type.Array(Party)) })
const Drafted = Type.Object({ id: Id, parties: Type.Array(Type.Record(Type.String(), Type.Unknown()), { minItems: 1 }) })
const Listed = Type.Object({ documents: Type.Array(Type.Unknown()) })

const locales = ['da', 'de', 'el', 'en', 'es', 'et', 'fi', 'fr', 'is', 'it', 'lt', 'lv', 'nl', 'no', 'pt', 'sv']

const statuses = {
  pending: 'started',
  closed: 'completed',
  rejected: 'declined',
  timedout: 'expired',
  canceled: 'cancelled',
  document_error: 'failed'
} as const

export default defineProvider({
  code: 'scrive',
  name: 'Scrive eSign',
  docs: 'https://apidocs.scrive.com',
  hosts: ['scrive.com', 'api-testbed.scrive.com'],
  sandbox: { kind: 'configuration' },
  settings: Settings,
  errors: {
    at: '/error_type',
    message: '/error_message',
    map: { invalid_authorisation: 'authentication_error', insufficient_privileges: 'authentication_error' }
  },
  check: (call) => call.http.get(...ask(call, 'list', { query: { max: 1 } }), Listed),
  services: {
    esign: {
      signatureTypes: ['SIMPLE'],
      locales,
      usesPhoneNumber: true,
      // A document can be read by its id at once. A request that was cut off may run for its whole time limit.
      idempotency: { kind: 'lookup', visibleAfter: 60 },
      statuses,

      // Nobody is told of a document before it is started.
      ...draftFirst({
        async prepare (request: Request, call: Call) {
          const { id, parties: [author = {}] } = await call.http.post(...ask(call, 'new', {
            multipart: { file: request.document, saved: 'true' }
          }), Drafted)
          call.onRefusal((http) => http.post(...ask(call, `${pathOf(id)}/trash`), Type.Unknown()))
          const details = { json: detailsOf(request, call, author as JsonObject) }
          await call.http.post(...ask(call, `${pathOf(id)}/update`, { form: { document: details } }), Type.Object({ id: Id }))
          return id
        },
        find,
        async issue (draft, _request, call) {
          const { status } = await call.http.post(...ask(call, `${pathOf(draft)}/start`), Document)
          return { id: draft, status }
        },
        withdraw: (draft, _request, call, http) => http.post(...ask(call, `${pathOf(draft)}/trash`), Type.Unknown())
      }),

      async status ({ id }, call) {
        const { status, parties = [] } = await read(id, call)
        const why = parties.map(({ rejection_reason: reason }) => reason).find((reason) => typeof reason === 'string')
        return { status, ...given({ reason: why ?? undefined }) }
      },

      async document ({ id }, call) {
        const { status } = await read(id, call)
        if (status !== 'closed') throw refused('not_completed', `Not everybody has signed: the document is ${status}.`)
        const [url, request] = ask(call, `${pathOf(id)}/files/main`)
        return await call.http.download(url, { ...request, filename: `${id}.pdf` })
      },

      async cancel ({ id }, call) {
        const { status } = await call.http.post(...ask(call, `${pathOf(id)}/cancel`), Document)
        return { status }
      }
    }
  },
  webhooks: {
    esign: {
      // Nobody signs it: it says only that Scrive is to be asked.
      verify: { kind: 'hint' },
      confirm: true,
      form: 'form',
      json: ['/document_json'],
      body: Type.Object({ document_id: Id, document_json: Type.Object({ status: Type.String({ minLength: 1 }) }) }),
      read: ({ document_id: remoteId, document_json: { status: type } }) => ({ remoteId, type }),
      events: statuses
    }
  }
})

function ask ({ settings, sandbox }: Pick<Call, 'settings' | 'sandbox'>, path: string, more: HttpCall = {}): [url: string, call: HttpCall] {
  const { apiToken, apiSecret, accessToken, accessSecret } = settings
  const value = `oauth_signature_method="PLAINTEXT",oauth_consumer_key="${apiToken}",oauth_token="${accessToken}",` +
    `oauth_signature="${apiSecret}&${accessSecret}"`
  return [`https://${sandbox ? 'api-testbed.' : ''}scrive.com/api/v2/documents/${path}`, {
    apiKey: { header: 'Authorization', value },
    ...more
  }]
}

function pathOf (id: string): string {
  return encodeURIComponent(id)
}

async function read (id: string, call: Call): Promise<Static<typeof Document>> {
  return await call.http.get(...ask(call, `${pathOf(id)}/get`), Document)
}

async function find (draft: string, call: Call): Promise<Found> {
  const { id, status } = await read(draft, call)
  return status === 'preparation' ? { found: 'draft' } : { found: 'accepted', response: { id, status } }
}
