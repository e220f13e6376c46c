import { at, defineProvider, type DocumentHandle, given, type HttpCall, type Json, mailboxOf, textOf, Type } from '@dispatch/core/provider'
import { Settings } from './settings.ts'

/** Each recipient has an id of its own at Scaleway. This header, which events have too, is that of the e-mail. */
const ours = 'X-Dispatch-Reference'

const Sent = Type.Object({ emails: Type.Array(Type.Object({ status: Type.String({ minLength: 1 }) }), { minItems: 1 }) })
const Domains = Type.Object({ domains: Type.Array(Type.Unknown()) })
/** A message of Topics and Events; what Transactional Email tells is JSON in the text `Message`. */
const Notification = Type.Object({ Type: Type.Literal('Notification'), Message: Type.String({ pattern: '^\\s*\\{.*\\}\\s*$' }) })

export default defineProvider({
  code: 'scaleway-tem',
  name: 'Scaleway Transactional Email',
  docs: 'https://www.scaleway.com/en/developers/api/transactional-email/',
  hosts: ['api.scaleway.com'],
  settings: Settings,
  errors: {
    at: '/type',
    message: ['/details/0/help_message', '/message'],
    map: {
      denied_authentication: 'authentication_error',
      permissions_denied: 'authentication_error',
      invalid_arguments: 'provider_error',
      quotas_exceeded: 'provider_error',
      precondition_failed: 'provider_error'
    }
  },
  check: ({ settings, http }) => http.get(...ask(settings, 'domains', { query: { project_id: settings.projectId } }), Domains),
  services: {
    email: {
      maxSize: 2_000_000,
      inlinePictures: false,
      limits: [{ at: '/email/subject', fits: Type.String({ minLength: 6 }), because: 'Scaleway asks for a subject of 6 characters.' }],
      idempotency: { kind: 'none' },

      async dispatch ({ email, attachments }, { settings, http, reference }) {
        const { from, to, cc, bcc, replyTo, subject, html, text, headers } = email
        const additional = { [ours]: reference, ...given({ 'Reply-To': replyTo?.toString() }), ...headers }
        const { emails: [first] } = await http.post(...ask(settings, 'emails', {
          json: given({
            project_id: settings.projectId,
            from: mailboxOf(from),
            to: to.map(mailboxOf),
            cc: cc.map(mailboxOf),
            bcc: bcc.map(mailboxOf),
            subject,
            html,
            text,
            attachments: attachments.map(fileOf),
            additional_headers: Object.entries(additional).map(([key, value]) => ({ key, value }))
          })
        }), Sent)
        return { id: reference, status: first?.status ?? 'new' }
      }
    }
  },
  webhooks: {
    email: {
      // https://www.scaleway.com/en/docs/topics-and-events/reference-content/veriying-webhooks/. Scaleway signs for everybody: the topic
      // is that of the settings, whatever the message calls it.
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
        algorithm: 'rsa-sha1',
        encoding: 'base64',
        key: { certificate: { body: '/SigningCertURL' }, hosts: ['messaging.s3.fr-par.scw.cloud'] },
        time: { at: { body: '/Timestamp' }, unit: 'iso', tolerance: 3600 }
      },
      handshakes: [
        { when: { at: { body: '/Type' }, is: 'SubscriptionConfirmation' }, visit: '/SubscribeURL', hosts: ['sns.mnq.fr-par.scaleway.com'] }
      ],
      body: Notification,
      read: ({ Message: message }) => {
        const event = JSON.parse(message) as Json
        const reference = headerOf(event, ours)
        return reference === undefined ? [] : [{
          remoteId: reference,
          type: textOf(event, '/type') ?? 'unknown',
          ...given({
            eventId: textOf(event, '/id'),
            recipient: textOf(event, '/email_to'),
            reason: textOf(event, '/email_response_message') ?? textOf(event, '/blocklist_reason')
          })
        }]
      },
      events: {
        email_delivered: 'delivered',
        email_dropped: 'bounced',
        email_mailbox_not_found: 'bounced',
        email_spam: 'failed',
        email_blocklisted: 'failed'
      }
    }
  }
})

function ask ({ secretKey }: { secretKey: string }, path: string, more: HttpCall): [url: string, call: HttpCall] {
  return [`https://api.scaleway.com/transactional-email/v1alpha1/regions/fr-par/${path}`, {
    apiKey: { header: 'X-Auth-Token', value: secretKey },
    ...more
  }]
}

function fileOf (document: DocumentHandle) {
  return { name: document.filename, type: document.contentType, content: document }
}

function headerOf (event: Json, name: string): string | undefined {
  const headers = at(event, '/email_headers')
  for (const one of Array.isArray(headers) ? headers as Json[] : []) {
    if (textOf(one, '/key')?.toLowerCase() === name.toLowerCase()) return textOf(one, '/value')
  }
  return undefined
}
