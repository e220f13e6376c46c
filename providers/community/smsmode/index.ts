import { defineProvider, inFrench, Secret, type Static, textMessagePoll, TextSender, Type } from '@dispatch/core/provider'

const api = 'https://rest.smsmode.com/sms/v1/messages'

const State = Type.Object({ value: Type.String({ minLength: 1 }), detail: Type.Optional(Type.Union([Type.String(), Type.Null()])) })
const Message = Type.Object({ messageId: Type.String({ minLength: 1 }), status: State })

const statuses = {
  SCHEDULED: 'queued',
  ENROUTE: 'sent',
  DELIVERED: 'delivered',
  UNDELIVERABLE: 'failed',
  UNDELIVERED: 'failed'
} as const

export default defineProvider({
  code: 'smsmode',
  name: 'smsmode',
  docs: 'https://dev.smsmode.com/sms/v1/message',
  hosts: ['rest.smsmode.com'],
  settings: Type.Object({
    apiKey: Secret({
      title: 'API key',
      ...inFrench('Clé d’API', 'une clé d’un canal de SMS transactionnels'),
      description: 'a key of a channel of transactional messages',
      pattern: '^\\w{16,}$'
    }),
    from: Type.Optional(TextSender({ pattern: '^([1-9]\\d{2,14}|[A-Za-z0-9 ]{1,11})$', examples: ['ACME'] }))
  }),
  errors: {
    at: ['/errorCode', '/details/errorCode'],
    message: ['/detail', '/details/detail', '/message'],
    map: {
      401: 'authentication_error',
      403: 'authentication_error'
    }
  },
  services: {
    sms: {
      alphanumericSender: true,
      idempotency: { kind: 'none' },
      statuses,
      poll: textMessagePoll,

      async dispatch ({ sms: { phoneNumber, message, sender } }, { settings: { apiKey, from }, reference, webhookUrl, http }) {
        const shown = sender ?? from
        const sent = await http.post(api, {
          ...signedIn(apiKey),
          json: {
            recipient: { to: phoneNumber.slice(1) },
            body: { text: message },
            refClient: reference,
            ...(shown !== undefined && { from: shown }),
            ...(webhookUrl !== undefined && { callbackUrlStatus: webhookUrl })
          }
        }, Message)
        return { id: sent.messageId, status: sent.status.value }
      },

      async status ({ id }, { settings: { apiKey }, http }) {
        const { status } = await http.get(`${api}/${encodeURIComponent(id)}`, signedIn(apiKey), Message)
        return { status: status.value, ...reasonOf(status) }
      }
    }
  },
  webhooks: {
    sms: {
      // Nobody signs it: it says only that smsmode is to be asked.
      verify: { kind: 'hint' },
      confirm: true,
      body: Message,
      read: ({ messageId: remoteId, status }) => ({ remoteId, type: status.value }),
      events: statuses
    }
  }
})

function signedIn (value: string) {
  return { apiKey: { header: 'X-Api-Key', value } }
}

function reasonOf ({ value, detail }: Static<typeof State>): { reason?: string } {
  return typeof detail === 'string' && value.startsWith('UNDELIVER') ? { reason: detail } : {}
}
