import { AllowedSenders, allowedSendersInFrench, defineProvider, type DocumentHandle, given, type HttpCall, inFrench, listOf, mailboxOf,
  refused, Secret, type Static, Type, webhookCredentials } from '@dispatch/core/provider'

const Settings = Type.Object({
  apiKey: Type.String({
    title: 'API key',
    ...inFrench('Clé d’API', 'la clé publique du compte ou du sous-compte : 32 chiffres et lettres'),
    description: 'the public key of the account or sub-account: 32 digits and letters',
    pattern: '^[0-9a-f]{32}$'
  }),
  secretKey: Secret({
    title: 'Secret key',
    ...inFrench('Clé secrète', 'le secret de cette clé'),
    description: 'the secret of that key',
    pattern: '^[0-9a-f]{32}$'
  }),
  region: Type.Optional(Type.Union([
    Type.Literal('eu', { title: 'Europe', ...inFrench('Europe') }),
    Type.Literal('us', { title: 'United States', ...inFrench('États-Unis') })
  ], {
    title: 'Region',
    ...inFrench('Région', 'où est le compte ; l’Europe par défaut'),
    description: 'where the account is; Europe unless set'
  })),
  allowedSenders: AllowedSenders(allowedSendersInFrench),
  ...webhookCredentials('Mailjet')
})
type Call = { settings: Static<typeof Settings> }

const Refusal = Type.Object({ ErrorCode: Type.String(), ErrorMessage: Type.String() })
const Sent = Type.Object({
  Messages: Type.Array(Type.Object({ Status: Type.String(), Errors: Type.Optional(Type.Array(Refusal)) }), { minItems: 1 })
})
const Found = Type.Object({ Data: Type.Array(Type.Object({ Status: Type.Optional(Type.String()) })) })

/** https://dev.mailjet.com/email/guides/webhooks/; grouped, they are a list. */
const Event = Type.Object({
  event: Type.String({ minLength: 1 }),
  time: Type.Integer(),
  email: Type.String(),
  CustomID: Type.String({ minLength: 1 }),
  Message_GUID: Type.Optional(Type.String()),
  error: Type.Optional(Type.String())
})

const minute = 60

export default defineProvider({
  code: 'mailjet',
  name: 'Mailjet',
  docs: 'https://dev.mailjet.com/email/guides/send-api-v31/',
  hosts: ['api.mailjet.com', 'api.us.mailjet.com'],
  sandbox: { kind: 'flag' },
  settings: Settings,
  errors: {
    at: ['/Messages/0/Errors/0/ErrorCode', '/ErrorCode'],
    message: ['/Messages/0/Errors/0/ErrorMessage', '/ErrorMessage'],
    map: { 401: 'authentication_error', 403: 'authentication_error' }
  },
  check: (call) => call.http.get(...ask(call, 'v3/REST/message', { query: { Limit: 1 } }), Found),
  services: {
    email: {
      maxSize: 15_000_000,
      idempotency: { kind: 'lookup', visibleAfter: 10 * minute },

      async dispatch ({ email, inline, attachments }, call) {
        const { from, to, cc, bcc, replyTo, subject, html, text, headers } = email
        const message = given({
          From: namedOf(from),
          To: to.map(namedOf),
          Cc: cc.map(namedOf),
          Bcc: bcc.map(namedOf),
          ReplyTo: replyTo === undefined ? undefined : namedOf(String(replyTo)),
          Subject: subject,
          TextPart: text,
          HTMLPart: html,
          Headers: headers,
          Attachments: attachments.map(fileOf),
          InlinedAttachments: inline.map((picture) => ({ ...fileOf(picture), ContentID: picture.contentId })),
          // Each recipient has an id of its own at Mailjet: this one, which events have too, is that of the e-mail.
          CustomID: call.reference
        })
        const { Messages: [sent] } = await call.http.post(...ask(call, 'v3.1/send', {
          json: { Messages: [message], ...(call.sandbox && { SandboxMode: true }) }
        }), Sent)
        if (sent?.Status !== 'success') throw refused(sent?.Errors?.[0]?.ErrorCode ?? 'error', sent?.Errors?.[0]?.ErrorMessage ?? '')
        return { id: call.reference, status: 'sent' }
      },

      async lookup ({ reference: id }, call) {
        const { Data: [found] } = await call.http.get(...ask(call, 'v3/REST/message', { query: { CustomID: id } }), Found)
        return found === undefined ? { found: 'absent' } : { found: 'accepted', response: { id, status: 'sent' } }
      }
    }
  },
  webhooks: {
    email: {
      verify: { kind: 'basic', user: 'webhookUser', password: 'webhookPassword' },
      body: Type.Union([Event, Type.Array(Event)]),
      read: (body) =>
        listOf(body).map(({ event: type, time, email: recipient, CustomID: remoteId, Message_GUID: message = '', error }) => ({
          remoteId,
          type,
          eventId: `${type} ${message} ${recipient} ${time}`,
          recipient,
          ...given({ reason: error })
        })),
      events: { sent: 'delivered', bounce: 'bounced', blocked: 'failed', spam: 'complained', open: 'opened', click: 'clicked' }
    }
  }
})

function ask ({ settings: { apiKey, secretKey, region } }: Call, path: string, more: HttpCall): [url: string, call: HttpCall] {
  return [`https://api.${region === 'us' ? 'us.' : ''}mailjet.com/${path}`, { basic: [apiKey, secretKey], ...more }]
}

function namedOf (mailbox: string): { Email: string, Name?: string } {
  const { email: Email, name } = mailboxOf(mailbox)
  return { Email, ...(name !== undefined && { Name: name }) }
}

function fileOf (document: DocumentHandle) {
  return { ContentType: document.contentType, Filename: document.filename, Base64Content: document }
}
