import { defineProvider, type HttpCall, refused, Type } from '@dispatch/core/provider'
import { type Call, Settings } from './settings.ts'
import { submissionOf, submitterId } from './submission.ts'

/** An answer with an error in it has made nothing. */
const none = Type.Optional(Type.Null())
const Id = Type.Integer({ minimum: 1 })
const Created = Type.Object({ id: Id, error: none })
const Submission = Type.Object({
  id: Id,
  error: none,
  status: Type.String({ minLength: 1 }),
  archived_at: Type.Optional(Type.Union([Type.String(), Type.Null()]))
})
const Submitters = Type.Object({ data: Type.Array(Type.Object({ submission_id: Id })) })
const Documents = Type.Object({ documents: Type.Array(Type.Object({ url: Type.String({ minLength: 1 }) })) })

/** https://www.docuseal.com/docs/webhooks */
const Event = Type.Object({
  event_type: Type.String({ minLength: 1 }),
  timestamp: Type.String(),
  data: Type.Object({ id: Id, submission_id: Type.Optional(Id) })
})

export default defineProvider({
  code: 'docuseal',
  name: 'DocuSeal',
  docs: 'https://www.docuseal.com/docs/api',
  hosts: ['api.docuseal.com', 'api.docuseal.eu', 'docuseal.com', 'docuseal.eu'],
  settings: Settings,
  errors: { message: '/error' },
  check: (call) => call.http.get(...ask(call, 'submissions', { query: { limit: 1 } }), Type.Object({ data: Type.Array(Type.Unknown()) })),
  services: {
    esign: {
      signatureTypes: ['SIMPLE'],
      usesPhoneNumber: true,
      ignores: [{ at: ['/esign/locale'], because: 'DocuSeal chooses the language by the account and the browser of a signer.' }],
      // A submitter is found by the id that the request has given. A request that was cut off may run for its whole time limit.
      idempotency: { kind: 'lookup', visibleAfter: 60 },
      statuses: { pending: 'started', completed: 'completed', declined: 'declined', expired: 'expired', archived: 'cancelled' },

      async dispatch (request, call) {
        const { id } = await call.http.post(...ask(call, 'submissions/pdf', { json: submissionOf(request, call) }), Created)
        return { id: String(id), status: 'pending' }
      },

      async lookup ({ reference }, call) {
        const query = { external_id: submitterId(reference, 0) }
        const { data: [made] } = await call.http.get(...ask(call, 'submitters', { query }), Submitters)
        if (made === undefined) return { found: 'absent' }
        return { found: 'accepted', response: { id: String(made.submission_id), status: 'pending' } }
      },

      async status ({ id }, call) {
        const { status, archived_at: archived } = await call.http.get(...ask(call, pathOf(id)), Submission)
        return { status: typeof archived === 'string' && status === 'pending' ? 'archived' : status }
      },

      async document ({ id }, call) {
        const { status } = await call.http.get(...ask(call, pathOf(id)), Submission)
        const { documents: [signed] } = await call.http.get(...ask(call, `${pathOf(id)}/documents`), Documents)
        if (status !== 'completed' || signed === undefined) {
          throw refused('not_completed', `Not everybody has signed: the submission is ${status}.`)
        }
        return await call.http.download(signed.url, { filename: `${id}.pdf` })
      },

      async cancel ({ id }, call) {
        await call.http.delete(...ask(call, pathOf(id)), Type.Object({ id: Id, archived_at: Type.String() }))
        return { status: 'archived' }
      }
    }
  },
  webhooks: {
    esign: {
      verify: {
        kind: 'signature',
        signed: ['time', { text: '.' }, 'body'],
        at: { header: 'X-Docuseal-Signature', part: 1, separator: '.' },
        algorithm: 'hmac-sha256',
        encoding: 'hex',
        key: { secret: 'webhookSecret' },
        time: { at: { header: 'X-Docuseal-Signature', part: 0, separator: '.' } }
      },
      body: Event,
      read: ({ event_type: type, timestamp, data: { id, submission_id: submission = id } }) => ({
        eventId: `${type} ${id} ${timestamp}`,
        type,
        remoteId: String(submission)
      }),
      events: {
        'form.viewed': 'viewed',
        'form.completed': 'signed',
        'form.declined': 'declined',
        'submission.completed': 'completed',
        'submission.expired': 'expired',
        'submission.archived': 'cancelled'
      }
    }
  }
})

function ask (
  { settings: { apiKey, region = 'com' } }: Pick<Call, 'settings'>,
  path: string,
  more: HttpCall = {}
): [url: string, call: HttpCall] {
  return [`https://api.docuseal.${region}/${path}`, { apiKey: { header: 'X-Auth-Token', value: apiKey }, ...more }]
}

function pathOf (id: string): string {
  return `submissions/${encodeURIComponent(id)}`
}
