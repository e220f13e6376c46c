import { defineProvider, type DocumentHandle, failureOf, given, mailboxOf, type ServiceContracts, shortened,
  Type } from '@dispatch/core/provider'
import { ask, senders, Settings } from './settings.ts'
import { subscribe, unsubscribe } from './webhook.ts'

type Email = ServiceContracts['email']['dispatch']['email']

const Sent = Type.Object({ messageId: Type.String() })
const SmsSent = Type.Object({ messageId: Type.Union([Type.Integer(), Type.String()]), reference: Type.Optional(Type.String()) })
const Account = Type.Object({ email: Type.String() })

/** https://developers.brevo.com/docs/transactional-webhooks */
const Event = Type.Object({
  event: Type.String(),
  email: Type.String(),
  'message-id': Type.String(),
  ts_epoch: Type.Optional(Type.Number()),
  reason: Type.Optional(Type.String())
})

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
  suggestions: { allowedSenders: senders },
  services: {
    email: {
      maxSize: 20_000_000,
      // Brevo knows no content ids: what the HTML shows as cid: would be a hole in it, and the picture an attachment.
      inlinePictures: false,
      idempotency: { kind: 'key', ttl: 30 * minute },
      subscribe,
      unsubscribe,

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
  },
  webhooks: {
    email: {
      verify: { kind: 'secret', at: { header: 'Authorization' }, prefix: 'Bearer ', secret: 'webhookToken' },
      body: Event,
      read: ({ event, email, reason, ts_epoch: at, 'message-id': remoteId }) => ({
        remoteId,
        type: event,
        recipient: email,
        eventId: `${remoteId} ${email} ${event} ${at ?? ''}`,
        ...(reason !== undefined && { reason })
      }),
      events: {
        delivered: 'delivered',
        hard_bounce: 'bounced',
        soft_bounce: 'bounced',
        invalid_email: 'failed',
        blocked: 'failed',
        error: 'failed',
        opened: 'opened',
        unique_opened: 'opened',
        proxy_open: 'opened',
        click: 'clicked',
        spam: 'complained'
      }
    }
  }
})

function messageOf ({ from, to, cc, bcc, replyTo, subject, html: htmlContent, text: textContent }: Email) {
  return given({
    sender: shortNamed(from),
    to: to.map(shortNamed),
    cc: cc.map(shortNamed),
    bcc: bcc.map(shortNamed),
    replyTo: replyTo === undefined ? undefined : shortNamed(String(replyTo)),
    subject,
    htmlContent,
    textContent
  })
}

/** A name has at most 70 characters at Brevo. */
function shortNamed (mailbox: string): { email: string, name?: string } {
  const { email, name } = mailboxOf(mailbox)
  return { email, ...(name !== undefined && { name: shortened(name, 70) }) }
}

function attached (documents: readonly DocumentHandle[]) {
  return documents.length === 0 ? {} : { attachment: documents.map((document) => ({ name: document.filename, content: document })) }
}
