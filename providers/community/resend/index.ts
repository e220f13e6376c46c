import { AllowedSenders, defineProvider, type Json, Secret, type Static, textOf, Type } from '@dispatch/core/provider'

const Made = Type.Object({ id: Type.String() })
/** Which fields it has depends on its type. */
const Detail = Type.Optional(Type.Unsafe<Json>({}))
const Event = Type.Object({
  type: Type.String(),
  data: Type.Object({
    email_id: Type.String({ minLength: 1 }),
    to: Type.Optional(Type.Array(Type.String())),
    bounce: Detail,
    failed: Detail,
    suppressed: Detail
  })
})

/** Why an e-mail has not arrived, in Resend's words. */
function reasonOf ({ bounce = null, failed = null, suppressed = null }: Static<typeof Event>['data']): { reason?: string } {
  const words = [bounce, failed, suppressed].flatMap((detail) =>
    ['/type', '/subType', '/reason', '/message'].map((place) => textOf(detail, place))
  )
  const reason = words.filter((word) => word !== undefined).join(': ')
  return reason === '' ? {} : { reason }
}

/** Bytes of a whole message, its attachments in base64: https://resend.com/docs/dashboard/emails/attachments. */
const maxSize = 40_000_000

export default defineProvider({
  code: 'resend',
  name: 'Resend',
  docs: 'https://resend.com/docs/api-reference/emails/send-email',
  hosts: ['api.resend.com'],
  settings: Type.Object({
    apiKey: Secret({
      title: 'API key',
      'x-texts': { fr: { title: 'Clé d’API', description: 'Une clé qui permet d’envoyer, et qui commence par re_.' } },
      description: 'A key with sending access, which begins with re_.',
      pattern: '^re_\\w+$'
    }),
    allowedSenders: AllowedSenders({
      'x-texts': {
        fr: {
          title: 'Expéditeurs autorisés',
          description: 'd’où les e-mails peuvent venir : des adresses entières, ou @example.com pour tout le domaine'
        }
      }
    }),
    webhookSecret: Type.Optional(Secret({
      title: 'Webhook secret',
      'x-texts': { fr: { title: 'Secret du webhook', description: 'Le secret de signature du webhook, qui commence par whsec_.' } },
      description: 'The signing secret of the webhook, which begins with whsec_.',
      pattern: '^whsec_[A-Za-z0-9+/=]+$'
    }))
  }),
  // https://resend.com/docs/api-reference/errors
  errors: {
    at: '/name',
    message: '/message',
    map: {
      missing_api_key: 'authentication_error',
      invalid_api_key: 'authentication_error',
      restricted_api_key: 'authentication_error',
      // Also with status 403: a domain of the sender that is not verified.
      validation_error: 'provider_error',
      // The first request with the key is still under way, or was another one: it may have been sent.
      concurrent_idempotent_requests: 'outcome_unknown',
      invalid_idempotent_request: 'outcome_unknown'
    }
  },
  services: {
    email: {
      maxSize,
      maxReplyTo: 10,
      idempotency: { kind: 'key', ttl: 24 * 3600 },

      async dispatch ({ email, inline, attachments }, { settings: { apiKey }, http, idempotencyKey }) {
        const { replyTo, cc, bcc, ...message } = email
        const files = [
          ...attachments.map((document) => ({ filename: document.filename, content: document, content_type: document.contentType })),
          ...inline.map((picture) => ({
            filename: picture.filename,
            content: picture,
            content_type: picture.contentType,
            content_id: picture.contentId
          }))
        ]
        const { id } = await http.post('https://api.resend.com/emails', {
          bearer: apiKey,
          headers: { 'idempotency-key': idempotencyKey },
          json: {
            ...message,
            ...(cc.length > 0 && { cc }),
            ...(bcc.length > 0 && { bcc }),
            ...(replyTo !== undefined && { reply_to: replyTo }),
            ...(files.length > 0 && { attachments: files })
          }
        }, Made)
        return { id, status: 'sent' }
      }
    }
  },
  // https://resend.com/docs/dashboard/webhooks/event-types
  webhooks: {
    email: {
      verify: { kind: 'standard', prefix: 'svix', secret: 'webhookSecret' },
      body: Event,
      read: ({ type, data }) => ({
        type,
        remoteId: data.email_id,
        ...(data.to?.length === 1 && { recipient: data.to[0] }),
        ...reasonOf(data)
      }),
      events: {
        'email.delivered': 'delivered',
        'email.bounced': 'bounced',
        'email.failed': 'failed',
        // The address is on Resend's list of those that bounced or complained: nothing was sent.
        'email.suppressed': 'failed',
        'email.complained': 'complained',
        'email.opened': 'opened',
        'email.clicked': 'clicked'
      }
    }
  }
})
