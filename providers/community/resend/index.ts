import { AllowedSenders, defineProvider, Secret, Type } from '@dispatch/core/provider'

const Made = Type.Object({ id: Type.String() })

/** Bytes of a whole message, its attachments in base64: https://resend.com/docs/dashboard/emails/attachments. */
const maxSize = 40_000_000

export default defineProvider({
  code: 'resend',
  name: 'Resend',
  docs: 'https://resend.com/docs/api-reference/emails/send-email',
  hosts: ['api.resend.com'],
  settings: Type.Object({
    apiKey: Secret({ title: 'API key', description: 'A key with sending access, which begins with re_.', pattern: '^re_\\w+$' }),
    allowedSenders: AllowedSenders()
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
  }
})
