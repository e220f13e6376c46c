import { defineProvider, type DocumentHandle, refused, Type } from '@dispatch/core/provider'
import { Settings } from './settings.ts'

const api = 'https://api.postmarkapp.com'
/** 0 is success; HTTP says 422 for most refusals. */
const Sent = Type.Object({ ErrorCode: Type.Integer(), Message: Type.String(), MessageID: Type.Optional(Type.String()) })
const Streams = Type.Object({
  MessageStreams: Type.Array(Type.Object({ ID: Type.String(), Name: Type.String(), MessageStreamType: Type.String() }))
})

/** https://postmarkapp.com/developer/webhooks/webhooks-overview */
const Event = Type.Object({
  RecordType: Type.String({ minLength: 1 }),
  MessageID: Type.String({ minLength: 1 }),
  ID: Type.Optional(Type.Integer()),
  Type: Type.Optional(Type.String()),
  Email: Type.Optional(Type.String()),
  Recipient: Type.Optional(Type.String()),
  Description: Type.Optional(Type.String()),
  ReceivedAt: Type.Optional(Type.String()),
  DeliveredAt: Type.Optional(Type.String()),
  BouncedAt: Type.Optional(Type.String())
})

const minute = 60

export default defineProvider({
  code: 'postmark',
  name: 'Postmark',
  docs: 'https://postmarkapp.com/developer/api/email-api',
  hosts: ['api.postmarkapp.com'],
  settings: Settings,
  // https://postmarkapp.com/developer/api/overview#error-codes
  errors: {
    at: '/ErrorCode',
    message: '/Message',
    map: { 10: 'authentication_error', 300: 'provider_error', 400: 'provider_error', 405: 'provider_error', 406: 'provider_error' }
  },
  check: ({ settings, http }) => http.get(`${api}/server`, { headers: tokenOf(settings) }, Type.Object({ ID: Type.Integer() })),
  suggestions: {
    async stream ({ settings, http }) {
      const { MessageStreams: streams } = await http.get(`${api}/message-streams`, { headers: tokenOf(settings) }, Streams)
      return streams.filter(({ MessageStreamType: type }) => type !== 'Inbound').map(({ ID: value, Name: title }) => ({ value, title }))
    }
  },
  services: {
    email: {
      maxSize: 10_000_000,
      maxReplyTo: 10,
      idempotency: { kind: 'lookup', visibleAfter: 10 * minute },

      async dispatch ({ email, inline, attachments }, { settings, http, reference }) {
        const { from, to, cc, bcc, replyTo, subject, html, text, headers } = email
        const files = [
          ...attachments.map((document) => fileOf(document)),
          ...inline.map((picture) => ({ ...fileOf(picture), ContentID: `cid:${picture.contentId}` }))
        ]
        const { MessageID: id, ErrorCode: code, Message: message } = await http.post(`${api}/email`, {
          headers: tokenOf(settings),
          json: {
            From: from,
            To: to.join(', '),
            ...(cc.length > 0 && { Cc: cc.join(', ') }),
            ...(bcc.length > 0 && { Bcc: bcc.join(', ') }),
            ...(replyTo !== undefined && { ReplyTo: [replyTo].flat().join(', ') }),
            Subject: subject,
            ...(html !== undefined && { HtmlBody: html }),
            ...(text !== undefined && { TextBody: text }),
            ...(headers !== undefined && { Headers: Object.entries(headers).map(([Name, Value]) => ({ Name, Value })) }),
            ...(files.length > 0 && { Attachments: files }),
            Metadata: { dispatch_reference: reference },
            MessageStream: settings.stream ?? 'outbound'
          }
        }, Sent)
        if (code !== 0 || id === undefined) throw refused(code, message)
        return { id, status: 'sent' }
      },

      async lookup ({ reference }, { settings, http }) {
        const query = { count: 1, offset: 0, metadata_dispatch_reference: reference }
        const Found = Type.Object({ Messages: Type.Array(Type.Object({ MessageID: Type.String() })) })
        const { Messages: [found] } = await http.get(`${api}/messages/outbound`, { headers: tokenOf(settings), query }, Found)
        return found === undefined ? { found: 'absent' } : { found: 'accepted', response: { id: found.MessageID, status: 'sent' } }
      }
    }
  },
  webhooks: {
    email: {
      verify: { kind: 'basic', user: 'webhookUser', password: 'webhookPassword' },
      body: Event,
      read: ({ RecordType: record, MessageID: remoteId, Type: kind, Email, Recipient = Email, Description, ...event }) => {
        const type = kind === undefined || record === 'SpamComplaint' ? record : `${record}.${kind}`
        const at = event.ReceivedAt ?? event.DeliveredAt ?? event.BouncedAt ?? ''
        return {
          remoteId,
          type,
          eventId: `${remoteId} ${type} ${Recipient ?? ''} ${event.ID ?? at}`,
          ...(Recipient !== undefined && { recipient: Recipient }),
          ...(Description !== undefined && { reason: Description })
        }
      },
      events: {
        Delivery: 'delivered',
        'Bounce.HardBounce': 'bounced',
        'Bounce.SoftBounce': 'bounced',
        'Bounce.BadEmailAddress': 'failed',
        'Bounce.Blocked': 'failed',
        'Bounce.DnsError': 'failed',
        'Bounce.ManuallyDeactivated': 'failed',
        SpamComplaint: 'complained',
        Open: 'opened',
        Click: 'clicked'
      }
    }
  }
})

function tokenOf ({ serverToken }: { serverToken: string }): Record<string, string> {
  return { 'X-Postmark-Server-Token': serverToken, accept: 'application/json' }
}

function fileOf (document: DocumentHandle) {
  return { Name: document.filename, Content: document, ContentType: document.contentType }
}
