import { defineProvider, draftFirst, type Found, type HttpCall, type JsonObject, refused, shareOfPage, signingOf, type Static,
  Type } from '@dispatch/core/provider'
import { type Call, type Request, Settings } from './settings.ts'

const Id = Type.String({ minLength: 1 })
const Created = Type.Object({ id: Id })
const Envelope = Type.Object({
  id: Id,
  status: Type.String({ minLength: 1 }),
  envelopeItems: Type.Optional(Type.Array(Type.Object({ id: Id })))
})

/** https://docs.documenso.com/developers/webhooks */
const Event = Type.Object({
  event: Type.String({ minLength: 1 }),
  createdAt: Type.String(),
  payload: Type.Object({ envelopeId: Id })
})

export default defineProvider({
  code: 'documenso',
  name: 'Documenso',
  docs: 'https://openapi.documenso.com',
  hosts: ['app.documenso.com'],
  settings: Settings,
  errors: { at: '/code', message: '/message', map: { UNAUTHORIZED: 'authentication_error', FORBIDDEN: 'authentication_error' } },
  check: (call) => call.http.get(...ask(call, '', { query: { perPage: 1 } }), Type.Object({ data: Type.Array(Type.Unknown()) })),
  services: {
    esign: {
      signatureTypes: ['SIMPLE'],
      ignores: [
        { at: ['/esign/locale'], because: 'Documenso writes in the language of the team.' },
        { at: ['/esign/expiresInDays'], because: 'The time to sign is a setting of the team.' }
      ],
      // An envelope can be read by its id at once. A request that was cut off may run for its whole time limit.
      idempotency: { kind: 'lookup', visibleAfter: 60 },
      statuses: { PENDING: 'started', COMPLETED: 'completed', REJECTED: 'declined', CANCELLED: 'cancelled' },

      // Nobody is told of a draft before it is distributed.
      ...draftFirst({
        async prepare (request: Request, call: Call) {
          const multipart = { payload: { json: payloadOf(request, call) }, files: request.document }
          const { id } = await call.http.post(...ask(call, '/create', { multipart }), Created)
          call.onRefusal((http) => http.post(...ask(call, '/delete', { json: { envelopeId: id } }), Type.Unknown()))
          return id
        },
        find,
        async issue (draft, _request, call) {
          await call.http.post(...ask(call, '/distribute', { json: { envelopeId: draft } }), Type.Unknown())
          return { id: draft, status: 'PENDING' }
        },
        withdraw: (draft, _request, call, http) => http.post(...ask(call, '/delete', { json: { envelopeId: draft } }), Type.Unknown())
      }),

      status: async ({ id }, call) => ({ status: (await read(id, call)).status }),

      async document ({ id }, call) {
        const { status, envelopeItems: [item] = [] } = await read(id, call)
        if (status !== 'COMPLETED' || item === undefined) {
          throw refused('not_completed', `Not everybody has signed: the envelope is ${status}.`)
        }
        const [url, request] = ask(call, `/item${pathOf(item.id)}/download`)
        return await call.http.download(url, { ...request, filename: `${id}.pdf` })
      },

      async cancel ({ id }, call) {
        await call.http.post(...ask(call, '/cancel', { json: { envelopeId: id } }), Type.Unknown())
        return { status: 'CANCELLED' }
      }
    }
  },
  webhooks: {
    esign: {
      // Documenso signs nothing: it sends the secret itself.
      verify: { kind: 'secret', at: { header: 'X-Documenso-Secret' }, secret: 'webhookSecret' },
      body: Event,
      read: ({ event: type, createdAt, payload: { envelopeId: remoteId } }) => ({
        eventId: `${type} ${remoteId} ${createdAt}`,
        type,
        remoteId
      }),
      events: {
        DOCUMENT_SENT: 'started',
        DOCUMENT_OPENED: 'viewed',
        DOCUMENT_SIGNED: 'signed',
        DOCUMENT_RECIPIENT_COMPLETED: 'signed',
        DOCUMENT_COMPLETED: 'completed',
        DOCUMENT_REJECTED: 'declined',
        DOCUMENT_CANCELLED: 'cancelled'
      }
    }
  }
})

function ask ({ settings: { apiKey } }: Pick<Call, 'settings'>, path: string, more: HttpCall = {}): [url: string, call: HttpCall] {
  return [`https://app.documenso.com/api/v2/envelope${path}`, { apiKey: { header: 'Authorization', value: apiKey }, ...more }]
}

function pathOf (id: string): string {
  return `/${encodeURIComponent(id)}`
}

async function read (id: string, call: Call): Promise<Static<typeof Envelope>> {
  return await call.http.get(...ask(call, pathOf(id)), Envelope)
}

async function find (draft: string, call: Call): Promise<Found> {
  const { id, status } = await read(draft, call)
  return status === 'DRAFT' ? { found: 'draft' } : { found: 'accepted', response: { id, status } }
}

function payloadOf (request: Request, { settings: { paper = 'A4' }, reference }: Call): JsonObject {
  const signing = signingOf(request)
  return {
    type: 'DOCUMENT',
    title: request.document.filename,
    externalId: reference,
    recipients: signing.map(({ signer: { firstName, lastName, email }, places, turn }) => ({
      email,
      name: `${firstName} ${lastName}`,
      role: 'SIGNER',
      signingOrder: turn,
      fields: places.map((place) => {
        const { x: positionX, y: positionY, ...size } = shareOfPage(place, paper, 100)
        return { type: 'SIGNATURE', identifier: 0, page: place.page, positionX, positionY, ...size }
      })
    })),
    meta: { distributionMethod: 'EMAIL', signingOrder: signing.some(({ turn }) => turn > 1) ? 'SEQUENTIAL' : 'PARALLEL' }
  }
}
