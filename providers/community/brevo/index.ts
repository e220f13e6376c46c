import { AllowedSenders, defineProvider, type DocumentHandle, failureOf, type HttpCall, readMailbox, Secret, type ServiceContracts,
  shortened, type Static, Type } from '@dispatch/core/provider'

type Email = ServiceContracts['email']['dispatch']['email']

const Settings = Type.Object({
  apiKey: Secret({
    title: 'API key',
    'x-texts': { fr: { title: 'Clé d’API', description: 'Une clé de l’API v3, qui commence par xkeysib-.' } },
    description: 'A key of the API v3, which begins with xkeysib-.',
    pattern: '^xkeysib-[\\w-]+$'
  }),
  allowedSenders: AllowedSenders({
    'x-texts': {
      fr: {
        title: 'Expéditeurs autorisés',
        description: 'd’où les e-mails peuvent venir : des adresses entières, ou @example.com pour tout le domaine'
      }
    }
  }),
  smsSender: Type.Optional(Type.String({
    title: 'SMS sender',
    'x-texts': {
      fr: {
        title: 'Expéditeur des SMS',
        description: 'l’expéditeur habituel des SMS : jusqu’à 11 lettres et chiffres, ou jusqu’à 15 chiffres'
      }
    },
    description: 'the usual sender of text messages: up to 11 letters and digits, or up to 15 digits',
    pattern: '^([A-Za-z0-9]{1,11}|[0-9]{1,15})$',
    default: 'Info'
  }))
})
type Call = { settings: Static<typeof Settings> }

const Sent = Type.Object({ messageId: Type.String() })
const SmsSent = Type.Object({ messageId: Type.Union([Type.Integer(), Type.String()]), reference: Type.Optional(Type.String()) })
const Account = Type.Object({ email: Type.String() })

const minute = 60

export default defineProvider({
  code: 'brevo',
  name: 'Brevo',
  docs: 'https://developers.brevo.com/reference/sendtransacemail',
  hosts: ['api.brevo.com'],
  settings: Settings,
  errors: {
    at: '/code',
    message: '/message',
    map: { unauthorized: 'authentication_error', account_under_validation: 'provider_error', not_enough_credits: 'provider_error' }
  },
  check: (call) => call.http.get(...ask(call, '/account'), Account),
  services: {
    email: {
      maxSize: 20_000_000,
      // Brevo knows no content ids: what the HTML shows as cid: would be a hole in it, and the picture an attachment.
      inlinePictures: false,
      idempotency: { kind: 'key', ttl: 30 * minute },

      async dispatch ({ email, attachments }, call) {
        const { idempotencyKey, repeated, http } = call
        try {
          const { messageId } = await http.post(...ask(call, '/smtp/email', {
            json: { ...messageOf(email), headers: { ...email.headers, idempotencyKey }, ...attached(attachments) }
          }), Sent)
          return { id: messageId, status: 'sent' }
        } catch (error) {
          // Brevo has had this key before: the e-mail was sent, and its id is not told again. Nobody has had it before the first call.
          if (repeated !== true || failureOf(error)?.code !== 'duplicate_parameter') throw error
          return { id: idempotencyKey, status: 'sent' }
        }
      }
    },
    sms: {
      alphanumericSender: true,
      idempotency: { kind: 'none' },

      async dispatch ({ sms: { phoneNumber, message, encoding, sender } }, call) {
        const { messageId } = await call.http.post(...ask(call, '/transactionalSMS/sms', {
          json: {
            sender: sender ?? call.settings.smsSender ?? 'Info',
            recipient: phoneNumber.slice(1),
            content: message,
            type: 'transactional',
            unicodeEnabled: encoding === 'UCS-2'
          }
        }), SmsSent)
        return { id: String(messageId), status: 'sent' }
      }
    }
  }
})

function ask ({ settings: { apiKey } }: Call, path: string, more: HttpCall = {}): [url: string, call: HttpCall] {
  return [`https://api.brevo.com/v3${path}`, { headers: { 'api-key': apiKey }, ...more }]
}

function messageOf ({ from, to, cc, bcc, replyTo, subject, html, text }: Email) {
  return {
    sender: mailboxOf(from),
    to: to.map(mailboxOf),
    ...(cc.length > 0 && { cc: cc.map(mailboxOf) }),
    ...(bcc.length > 0 && { bcc: bcc.map(mailboxOf) }),
    ...(replyTo !== undefined && { replyTo: mailboxOf(replyTo) }),
    subject,
    ...(html !== undefined && { htmlContent: html }),
    ...(text !== undefined && { textContent: text })
  }
}

/** A name has at most 70 characters at Brevo. */
function mailboxOf (mailbox: string | string[]): { email: string, name?: string } {
  const { address, name } = readMailbox(String(mailbox)) ?? { address: String(mailbox) }
  return { email: address, ...(name !== undefined && { name: shortened(name, 70) }) }
}

function attached (documents: readonly DocumentHandle[]) {
  return documents.length === 0 ? {} : { attachment: documents.map((document) => ({ name: document.filename, content: document })) }
}
