import { AllowedSenders, allowedSendersInFrench, defineProvider, given, type HttpCall, inFrench, Secret, type Static,
  Type } from '@dispatch/core/provider'

const Settings = Type.Object({
  apiKey: Secret({
    title: 'API key',
    ...inFrench('Clé d’API', 'une clé du compte ; une clé d’envoi du domaine ne suffit pas, car elle ne retrouve aucun e-mail'),
    description: 'a key of the account; a sending key of the domain is not enough, because it finds no e-mail again',
    pattern: '^[\\w-]{16,}$'
  }),
  domain: Type.String({
    title: 'Domain',
    ...inFrench('Domaine', 'le domaine d’envoi, vérifié chez Mailgun'),
    description: 'the sending domain, verified at Mailgun',
    pattern: '^[a-z0-9-]+(\\.[a-z0-9-]+)+$',
    examples: ['mg.example.com']
  }),
  region: Type.Union([
    Type.Literal('us', { title: 'United States', ...inFrench('États-Unis') }),
    Type.Literal('eu', { title: 'Europe', ...inFrench('Europe') })
  ], { title: 'Region', ...inFrench('Région', 'celle du domaine'), description: 'that of the domain' }),
  allowedSenders: AllowedSenders(allowedSendersInFrench),
  signingKey: Type.Optional(Secret({
    title: 'HTTP webhook signing key',
    ...inFrench('Clé de signature des webhooks', 'celle du compte : avec elle, Mailgun signe ce que deviennent les e-mails'),
    description: 'that of the account: with it Mailgun signs what becomes of e-mails',
    pattern: '^[\\w-]{16,}$'
  }))
})
type Call = { settings: Static<typeof Settings> }

const Sent = Type.Object({ id: Type.String({ minLength: 3 }) })
const Found = Type.Object({ items: Type.Array(Type.Object({ event: Type.String() })) })

/** https://documentation.mailgun.com/docs/mailgun/user-manual/events/webhooks */
const Told = Type.Object({
  'event-data': Type.Object({
    id: Type.String({ minLength: 1 }),
    event: Type.String({ minLength: 1 }),
    severity: Type.Optional(Type.String()),
    recipient: Type.Optional(Type.String()),
    message: Type.Object({ headers: Type.Object({ 'message-id': Type.String({ minLength: 1 }) }) }),
    'delivery-status': Type.Optional(Type.Object({ message: Type.Optional(Type.String()) }))
  })
})

const hour = 3600

export default defineProvider({
  code: 'mailgun',
  name: 'Mailgun',
  docs: 'https://documentation.mailgun.com/docs/mailgun/api-reference/send/mailgun/messages',
  hosts: ['api.mailgun.net', 'api.eu.mailgun.net'],
  sandbox: { kind: 'flag' },
  settings: Settings,
  errors: { message: '/message', map: { 401: 'authentication_error', 403: 'authentication_error' } },
  check: (call) => call.http.get(...ask(call, 'events', { query: { limit: 1 } }), Found),
  services: {
    email: {
      maxSize: 25_000_000,
      maxReplyTo: 10,
      idempotency: { kind: 'lookup', visibleAfter: hour },

      async dispatch ({ email, inline, attachments }, call) {
        const { from, to, cc, bcc, replyTo, subject, html, text, headers = {} } = email
        const { id } = await call.http.post(...ask(call, 'messages', {
          multipart: {
            ...given({ from, to, cc, bcc, subject, html, text, attachment: attachments }),
            ...(replyTo !== undefined && { 'h:Reply-To': [replyTo].flat().join(', ') }),
            ...Object.fromEntries(Object.entries(headers).map(([name, value]) => [`h:${name}`, value])),
            // It is found by this again, and events name it.
            'h:Message-Id': `<${messageIdOf(call)}>`,
            // The HTML shows a picture by its file name.
            ...given({ inline: inline.map((document) => ({ document, filename: document.contentId, contentType: document.contentType })) }),
            // It is accepted, and reaches nobody.
            ...(call.sandbox && { 'o:testmode': 'yes' })
          }
        }), Sent)
        return { id: id.replaceAll(/[<>]/g, ''), status: 'queued' }
      },

      async lookup (_, call) {
        const id = messageIdOf(call)
        const { items: [found] } = await call.http.get(...ask(call, 'events', { query: { 'message-id': id, limit: 1 } }), Found)
        return found === undefined ? { found: 'absent' } : { found: 'accepted', response: { id, status: 'queued' } }
      }
    }
  },
  webhooks: {
    email: {
      verify: {
        kind: 'signature',
        signed: [{ body: '/signature/timestamp' }, { body: '/signature/token' }],
        at: { body: '/signature/signature' },
        algorithm: 'hmac-sha256',
        encoding: 'hex',
        key: { secret: 'signingKey' },
        time: { at: { body: '/signature/timestamp' } }
      },
      body: Told,
      read: ({ 'event-data': { id: eventId, event, severity, recipient, message, 'delivery-status': status } }) => ({
        eventId,
        remoteId: message.headers['message-id'],
        type: severity === undefined ? event : `${event}.${severity}`,
        ...given({ recipient, reason: event === 'failed' ? status?.message : undefined })
      }),
      events: { delivered: 'delivered', 'failed.permanent': 'bounced', opened: 'opened', clicked: 'clicked', complained: 'complained' }
    }
  }
})

function ask ({ settings: { apiKey, domain, region } }: Call, path: string, more: HttpCall): [url: string, call: HttpCall] {
  return [`https://api.${region === 'eu' ? 'eu.' : ''}mailgun.net/v3/${domain}/${path}`, { basic: ['api', apiKey], ...more }]
}

function messageIdOf ({ settings: { domain }, reference }: Call & { reference: string }): string {
  return `${reference}@${domain}`
}
