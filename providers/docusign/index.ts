import { defineProvider, failureOf, Type, type Accepted, type DocumentHandle, type Found, type ServiceContracts } from '@dispatch/core/provider'
import { Changed, checkDone, envelopePath, envelopes, Settings, type Call } from './api.ts'
import { documentId, locales, signersOf } from './signers.ts'

const Created = Type.Object({ envelopeId: Type.String() })
const Envelope = Type.Object({ envelopeId: Type.String(), status: Type.String() })

/** What envelopes are once they were sent, as delivery statuses. */
const statuses = { sent: 'started', delivered: 'viewed', signed: 'signed', completed: 'completed', declined: 'declined', voided: 'cancelled' } as const

export default defineProvider({
  code: 'docusign',
  name: 'Docusign',
  docs: 'https://developers.docusign.com/docs/esign-rest-api/reference/envelopes/',
  hosts: ['account.docusign.com', 'account-d.docusign.com', '*.docusign.net'],
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
      // Both were answered with 400 before there was 429.
      BURST_APIINVOCATION_LIMIT_EXCEEDED: 'provider_unavailable',
      HOURLY_APIINVOCATION_LIMIT_EXCEEDED: 'provider_unavailable'
    }
  },
  services: {
    esign: {
      signatureTypes: ['SIMPLE'],
      locales,
      // An envelope is read by its id, at once; a request that was cut off may be at work for as long as it can take.
      idempotency: { kind: 'lookup', visibleAfter: 60 },
      checkpoint: true,
      timeLimit: 100,
      statuses,

      async dispatch (request, call) {
        const { checkpointed } = call
        const before = checkpointed === undefined ? undefined : await find(checkpointed, call)
        if (before?.found === 'accepted') return before.response
        const draft = checkpointed !== undefined && before?.found === 'draft' ? checkpointed : await prepare(request, call)
        await call.checkpoint(draft)
        return await change(draft, { status: 'sent' }, call)
      },

      // Before its checkpoint a dispatch has made nothing but drafts.
      lookup: async ({ checkpoint }, call) => checkpoint === undefined ? { found: 'absent' } : await find(checkpoint, call),

      async status ({ id }, call) {
        const { status } = await call.http.get(...envelopes(call, envelopePath(id)), Envelope)
        return { status }
      },

      async document ({ id }, call) {
        const [url, signedIn] = envelopes(call, `${envelopePath(id)}/documents/combined`)
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
      verify: { kind: 'basic', user: 'webhookUser', password: 'webhookPassword' },
      body: Type.Object({
        event: Type.String(),
        generatedDateTime: Type.String(),
        data: Type.Object({ envelopeId: Type.String(), recipientId: Type.Optional(Type.String()) })
      }),
      // Events have no id, and their `retryCount` differs when one is sent again.
      read: ({ event: type, generatedDateTime: time, data: { envelopeId: remoteId, recipientId = '' } }) => ({ remoteId, type, eventId: [type, remoteId, recipientId, time].join(' ') }),
      events: {
        'envelope-sent': 'started',
        'envelope-delivered': 'viewed',
        'recipient-completed': 'signed',
        'envelope-completed': 'completed',
        'envelope-declined': 'declined',
        'envelope-voided': 'cancelled'
      }
    }
  }
})

/** A draft with the document and its signers, of which nobody has heard yet. */
async function prepare (request: ServiceContracts['esign']['dispatch'], call: Call): Promise<string> {
  const { esign: { expiresInDays }, document } = request
  const emailSubject = call.settings.emailSubject ?? document.filename.slice(0, 100)
  const signers = signersOf(request, emailSubject)

  const [url, signedIn] = envelopes(call)
  const { envelopeId } = await call.http.post(url, {
    ...signedIn,
    json: {
      status: 'created',
      emailSubject,
      notification: { useAccountDefaults: 'false', expirations: { expireEnabled: 'true', expireAfter: String(expiresInDays), expireWarn: '0' } },
      customFields: { textCustomFields: [{ name: 'dispatch_reference', value: call.reference, show: 'false', required: 'false' }] }
    }
  }, Created)
  const [place] = envelopes(call, envelopePath(envelopeId))
  checkDone(await call.http.put(`${place}/documents/${documentId}`, { ...signedIn, document, headers: { 'content-disposition': dispositionOf(document) } }, Changed))
  checkDone(await call.http.post(`${place}/recipients`, { ...signedIn, json: { signers } }, Changed), ...signers.map((_, index) => `/signers/${index}`))
  return envelopeId
}

/** Signers see the name; a header has ASCII alone. */
function dispositionOf ({ filename }: DocumentHandle): string {
  const plain = filename.normalize('NFKD').replaceAll(/\p{M}/gu, '').replaceAll(/[^\w .()-]/g, '_')
  return `file; filename="${plain}"; documentid=${documentId}; fileExtension="pdf"`
}

async function change (id: string, envelope: { status: string, voidedReason?: string }, call: Call): Promise<Accepted> {
  const [url, signedIn] = envelopes(call, envelopePath(id))
  checkDone(await call.http.put(url, { ...signedIn, json: envelope }, Changed))
  return { id, status: envelope.status }
}

async function find (checkpoint: string, call: Call): Promise<Found> {
  try {
    const { envelopeId: id, status } = await call.http.get(...envelopes(call, envelopePath(checkpoint)), Envelope)
    return status === 'created' ? { found: 'draft' } : { found: 'accepted', response: { id, status } }
  } catch (error) {
    const { status, code } = failureOf(error) ?? {}
    if (status === 404 || code === 'ENVELOPE_DOES_NOT_EXIST') return { found: 'absent' }
    throw error
  }
}
