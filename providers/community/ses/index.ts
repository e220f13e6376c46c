import { at, defineProvider, given, type Json, mailboxOf, textOf, Type } from '@dispatch/core/provider'
import { Settings } from './settings.ts'

const Sent = Type.Object({ MessageId: Type.String({ minLength: 1 }) })

/** A message of SNS; what SES tells is JSON in the text `Message`. */
const Notification = Type.Object({
  Type: Type.Literal('Notification'),
  MessageId: Type.String({ minLength: 1 }),
  Message: Type.String({ pattern: '^\\s*\\{.*\\}\\s*$' })
})

/** Where the recipients stand whom an event is about; of other events, all those of the e-mail. */
const concerned: Readonly<Record<string, string>> = {
  Bounce: '/bounce/bouncedRecipients',
  Complaint: '/complaint/complainedRecipients',
  Delivery: '/delivery/recipients'
}

export default defineProvider({
  code: 'ses',
  name: 'Amazon SES',
  docs: 'https://docs.aws.amazon.com/ses/latest/APIReference-V2/API_SendEmail.html',
  hosts: ['email.{region}.amazonaws.com'],
  settings: Settings,
  errors: {
    at: ['/__type', { header: 'x-amzn-ErrorType' }],
    message: ['/message', '/Message'],
    map: {
      MessageRejected: 'provider_error',
      MailFromDomainNotVerifiedException: 'provider_error',
      AccountSuspendedException: 'provider_error',
      SendingPausedException: 'provider_error',
      LimitExceededException: 'provider_error',
      TooManyRequestsException: 'provider_unavailable'
    }
  },
  services: {
    email: {
      maxSize: 40_000_000,
      maxReplyTo: 10,
      idempotency: { kind: 'none' },

      async dispatch ({ email, inline, attachments }, { settings, http, documents, reference, now }) {
        const { bcc, ...message } = email
        const { region, accessKeyId, secretAccessKey, configurationSet } = settings
        const { MessageId: id } = await http.post(`https://email.${region}.amazonaws.com/v2/email/outbound-emails`, {
          sigv4: { accessKeyId, secretAccessKey, region, service: 'ses' },
          json: {
            // The names of senders and recipients stand in the message itself, where they may have any letter.
            Destination: given({
              ToAddresses: email.to.map(addressOf),
              CcAddresses: email.cc.map(addressOf),
              BccAddresses: bcc.map(addressOf)
            }),
            Content: {
              Raw: { Data: await documents.compose({ ...message, id: reference, date: now().toISOString(), inline, attachments }) }
            },
            ...given({ ConfigurationSetName: configurationSet })
          }
        }, Sent)
        return { id, status: 'sent' }
      }
    }
  },
  webhooks: {
    email: {
      // https://docs.aws.amazon.com/sns/latest/dg/sns-verify-signature-of-message.html. AWS signs for everybody: the topic is that of
      // the settings, whatever the message calls it.
      verify: {
        kind: 'signature',
        signed: [
          { named: ['Message', 'MessageId', 'SubscribeURL', 'Subject', 'Timestamp', 'Token'], separator: '\n' },
          { text: 'TopicArn\n' },
          { setting: 'topic' },
          { text: '\n' },
          { named: ['Type'], separator: '\n' }
        ],
        at: { body: '/Signature' },
        algorithm: 'rsa-sha256',
        encoding: 'base64',
        key: { certificate: { body: '/SigningCertURL' }, hosts: ['sns.{region}.amazonaws.com'] },
        time: { at: { body: '/Timestamp' }, unit: 'iso', tolerance: 3600 }
      },
      handshakes: [
        { when: { at: { body: '/Type' }, is: 'SubscriptionConfirmation' }, visit: '/SubscribeURL', hosts: ['sns.{region}.amazonaws.com'] }
      ],
      body: Notification,
      read: ({ MessageId: message, Message: text }) => {
        const event = JSON.parse(text) as Json
        const type = textOf(event, '/eventType') ?? 'unknown'
        const about = at(event, concerned[type] ?? '/mail/destination')
        return (Array.isArray(about) ? about : []).map((one: Json) => {
          const recipient = typeof one === 'string' ? one : textOf(one, '/emailAddress')
          return {
            remoteId: textOf(event, '/mail/messageId') ?? '',
            type,
            eventId: `${message} ${recipient ?? ''}`,
            ...given({ recipient, reason: textOf(one, '/diagnosticCode') ?? textOf(event, '/reject/reason') })
          }
        })
      },
      events: { Delivery: 'delivered', Bounce: 'bounced', Reject: 'failed', Complaint: 'complained', Open: 'opened', Click: 'clicked' }
    }
  }
})

function addressOf (mailbox: string): string {
  return mailboxOf(mailbox).email
}
