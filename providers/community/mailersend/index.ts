import { AllowedSenders, allowedSendersInFrench, defineProvider, type DocumentHandle, given, inFrench, mailboxOf, Secret,
  Type } from '@dispatch/core/provider'

const api = 'https://api.mailersend.com/v1'
/** Accepted (202): the id is a header. */
const Sent = Type.Object({ headers: Type.Object({ 'x-message-id': Type.String({ minLength: 1 }) }), body: Type.Unknown() })

/** https://developers.mailersend.com/api/v1/webhooks.html */
const Event = Type.Object({
  type: Type.String({ minLength: 1 }),
  data: Type.Object({
    id: Type.String({ minLength: 1 }),
    email: Type.Object({
      message: Type.Object({ id: Type.String({ minLength: 1 }) }),
      recipient: Type.Optional(Type.Object({ email: Type.String() }))
    })
  })
})

export default defineProvider({
  code: 'mailersend',
  name: 'MailerSend',
  docs: 'https://developers.mailersend.com/api/v1/email.html',
  hosts: ['api.mailersend.com'],
  settings: Type.Object({
    apiKey: Secret({
      title: 'API token',
      ...inFrench('Jeton d’API', 'un jeton qui permet d’envoyer, et qui commence par mlsn.'),
      description: 'a token with sending access, which begins with mlsn.',
      pattern: '^mlsn\\.\\w{8,}$'
    }),
    allowedSenders: AllowedSenders(allowedSendersInFrench),
    webhookSecret: Type.Optional(Secret({
      title: 'Webhook secret',
      ...inFrench('Secret du webhook', 'le secret de signature que MailerSend affiche pour le webhook'),
      description: 'the signing secret that MailerSend shows for the webhook',
      pattern: '^\\S{8,}$'
    }))
  }),
  errors: { message: '/message', map: { 401: 'authentication_error', 403: 'authentication_error' } },
  services: {
    email: {
      maxSize: 25_000_000,
      limits: [
        { at: '/email/to', fits: Type.Unsafe({ maxItems: 50 }), because: 'MailerSend takes 50 recipients.' },
        { at: '/email/cc', fits: Type.Unsafe({ maxItems: 10 }), because: 'MailerSend takes 10 copies.' },
        { at: '/email/bcc', fits: Type.Unsafe({ maxItems: 10 }), because: 'MailerSend takes 10 blind copies.' }
      ],
      idempotency: { kind: 'none' },

      async dispatch ({ email, inline, attachments }, { settings, http }) {
        const { from, to, cc, bcc, replyTo, subject, html, text, headers } = email
        const files = [
          ...attachments.map((document) => ({ ...fileOf(document), disposition: 'attachment' })),
          ...inline.map((picture) => ({ ...fileOf(picture), disposition: 'inline', id: picture.contentId }))
        ]
        const { headers: { 'x-message-id': id } } = await http.post(`${api}/email`, {
          bearer: settings.apiKey,
          replyHeaders: ['x-message-id'],
          json: given({
            from: mailboxOf(from),
            to: to.map(mailboxOf),
            cc: cc.map(mailboxOf),
            bcc: bcc.map(mailboxOf),
            reply_to: replyTo === undefined ? undefined : mailboxOf(String(replyTo)),
            subject,
            html,
            text,
            headers: Object.entries(headers ?? {}).map(([name, value]) => ({ name, value })),
            attachments: files
          })
        }, Sent)
        return { id, status: 'sent' }
      }
    }
  },
  webhooks: {
    email: {
      verify: { kind: 'hmac', header: 'Signature', algorithm: 'sha256', encoding: 'hex', secret: 'webhookSecret' },
      body: Event,
      read: ({ type, data: { id: eventId, email: { message: { id: remoteId }, recipient } } }) => ({
        eventId: `${type} ${eventId}`,
        remoteId,
        type,
        ...given({ recipient: recipient?.email })
      }),
      events: {
        'activity.delivered': 'delivered',
        'activity.soft_bounced': 'bounced',
        'activity.hard_bounced': 'bounced',
        'activity.opened': 'opened',
        'activity.clicked': 'clicked',
        'activity.spam_complaint': 'complained'
      }
    }
  }
})

function fileOf (document: DocumentHandle) {
  return { content: document, filename: document.filename }
}
