import { AllowedSenders, allowedSendersInFrench, defineProvider, type DocumentHandle, given, inFrench, mailboxOf, Secret,
  Type } from '@dispatch/core/provider'

/** Accepted (202) without a body: the id is a header. */
const Sent = Type.Object({ headers: Type.Object({ 'x-message-id': Type.String({ minLength: 1 }) }), body: Type.Unknown() })

/** https://www.twilio.com/docs/sendgrid/for-developers/tracking-events/event */
const Events = Type.Array(Type.Object({
  event: Type.String({ minLength: 1 }),
  type: Type.Optional(Type.String()),
  sg_event_id: Type.String({ minLength: 1 }),
  sg_message_id: Type.String({ minLength: 1 }),
  email: Type.Optional(Type.String()),
  reason: Type.Optional(Type.String())
}))

export default defineProvider({
  code: 'sendgrid',
  name: 'SendGrid',
  docs: 'https://www.twilio.com/docs/sendgrid/api-reference/mail-send/mail-send',
  hosts: ['api.sendgrid.com', 'api.eu.sendgrid.com'],
  sandbox: { kind: 'flag' },
  settings: Type.Object({
    apiKey: Secret({
      title: 'API key',
      ...inFrench('Clé d’API', 'une clé qui permet d’envoyer, et qui commence par SG.'),
      description: 'a key with access to "Mail Send", which begins with SG.',
      pattern: '^SG\\.[\\w.-]{8,}$'
    }),
    allowedSenders: AllowedSenders(allowedSendersInFrench),
    region: Type.Optional(Type.Union([
      Type.Literal('global', { title: 'Global', ...inFrench('Monde') }),
      Type.Literal('eu', { title: 'Europe', ...inFrench('Europe') })
    ], {
      title: 'Region',
      ...inFrench('Région', 'où se trouve le compte (subuser) ; le monde par défaut'),
      description: 'where the subuser is; global unless set'
    })),
    verificationKey: Type.Optional(Type.String({
      title: 'Verification key',
      ...inFrench('Clé de vérification', 'la clé publique affichée par « Signed Event Webhook »'),
      description: 'the public key that "Signed Event Webhook" shows',
      pattern: '^[A-Za-z0-9+/=]{80,400}$'
    }))
  }),
  errors: { message: '/errors/0/message', map: { 401: 'authentication_error', 403: 'authentication_error' } },
  check: ({ settings, http }) =>
    http.get(`${apiOf(settings)}/scopes`, { bearer: settings.apiKey }, Type.Object({ scopes: Type.Array(Type.String()) })),
  services: {
    email: {
      maxSize: 30_000_000,
      idempotency: { kind: 'none' },

      async dispatch ({ email, inline, attachments }, { settings, http, reference, sandbox }) {
        const { from, to, cc, bcc, replyTo, subject, html, text, headers } = email
        const files = [
          ...attachments.map((document) => ({ ...fileOf(document), disposition: 'attachment' })),
          ...inline.map((picture) => ({ ...fileOf(picture), disposition: 'inline', content_id: picture.contentId }))
        ]
        const { headers: { 'x-message-id': id } } = await http.post(`${apiOf(settings)}/mail/send`, {
          bearer: settings.apiKey,
          replyHeaders: ['x-message-id'],
          json: {
            personalizations: [given({ to: to.map(mailboxOf), cc: cc.map(mailboxOf), bcc: bcc.map(mailboxOf) })],
            from: mailboxOf(from),
            ...(replyTo !== undefined && { reply_to: mailboxOf(String(replyTo)) }),
            subject,
            // The plain text comes first.
            content: [
              ...text === undefined ? [] : [{ type: 'text/plain', value: text }],
              ...html === undefined ? [] : [{ type: 'text/html', value: html }]
            ],
            ...given({ attachments: files, headers }),
            custom_args: { dispatch_reference: reference },
            // It is checked, and reaches nobody.
            ...(sandbox && { mail_settings: { sandbox_mode: { enable: true } } })
          }
        }, Sent)
        return { id, status: 'sent' }
      }
    }
  },
  webhooks: {
    email: {
      verify: {
        kind: 'signature',
        signed: ['time', 'body'],
        at: { header: 'X-Twilio-Email-Event-Webhook-Signature' },
        algorithm: 'ecdsa-p256-sha256',
        encoding: 'base64',
        key: { setting: 'verificationKey' },
        time: { at: { header: 'X-Twilio-Email-Event-Webhook-Timestamp' } }
      },
      body: Events,
      read: (events) =>
        events.map(({ event, type, sg_event_id: eventId, sg_message_id: message, email, reason }) => ({
          eventId,
          // The id that was answered is what stands before the first dot.
          remoteId: message.split('.')[0] ?? message,
          type: type === undefined || event !== 'bounce' ? event : `${event}.${type}`,
          ...given({ recipient: email, reason })
        })),
      events: {
        delivered: 'delivered',
        bounce: 'bounced',
        'bounce.bounce': 'bounced',
        'bounce.blocked': 'failed',
        dropped: 'failed',
        open: 'opened',
        click: 'clicked',
        spamreport: 'complained'
      }
    }
  }
})

function apiOf ({ region }: { region?: 'global' | 'eu' }): string {
  return `https://api.${region === 'eu' ? 'eu.' : ''}sendgrid.com/v3`
}

function fileOf (document: DocumentHandle) {
  return { content: document, filename: document.filename, type: document.contentType }
}
