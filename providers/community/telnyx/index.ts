import { defineProvider, inFrench, Secret, type Static, textMessagePoll, TextSender, Type } from '@dispatch/core/provider'

const Code = Type.Object({ title: Type.Optional(Type.String()) })
const Message = Type.Object({
  id: Type.String({ minLength: 1 }),
  to: Type.Array(Type.Object({ status: Type.String({ minLength: 1 }) }), { minItems: 1 }),
  errors: Type.Optional(Type.Array(Code))
})
const Sent = Type.Object({ data: Message })

/** What becomes of a message, or what somebody has written: https://developers.telnyx.com/docs/messaging/messages/receiving-webhooks. */
const Event = Type.Object({
  data: Type.Object({
    id: Type.String({ minLength: 1 }),
    event_type: Type.String(),
    payload: Type.Object({
      ...Message.properties,
      from: Type.Optional(Type.Object({ phone_number: Type.String() })),
      text: Type.Optional(Type.Union([Type.String(), Type.Null()]))
    })
  })
})

/** The status of the recipient, in answers and in events. */
const statuses = {
  queued: 'queued',
  sending: 'queued',
  sent: 'sent',
  delivered: 'delivered',
  delivery_unconfirmed: 'sent',
  expired: 'failed',
  sending_failed: 'failed',
  delivery_failed: 'failed'
} as const

const replies = { STOP: 'stop', START: 'start' } as const

export default defineProvider({
  code: 'telnyx',
  name: 'Telnyx',
  docs: 'https://developers.telnyx.com/docs/messaging/messages/send-message',
  hosts: ['api.telnyx.com'],
  settings: Type.Object({
    apiKey: Secret({
      title: 'API key',
      ...inFrench('Clé d’API', 'une clé de l’API v2, qui commence par KEY'),
      description: 'a key of the API v2, which begins with KEY',
      pattern: '^KEY\\w{8,}$'
    }),
    from: TextSender({ pattern: '^(\\+[1-9]\\d{6,14}|[A-Za-z0-9 ]{1,11})$' }),
    profile: Type.Optional(Type.String({
      title: 'Messaging profile',
      ...inFrench('Profil de messagerie', 'son identifiant, nécessaire pour un nom comme expéditeur'),
      description: 'its id, which a name as the sender needs',
      pattern: '^[0-9a-f-]{36}$'
    })),
    publicKey: Type.Optional(Type.String({
      title: 'Public key',
      ...inFrench('Clé publique', 'celle du compte : avec elle, Telnyx signe ce que deviennent les messages'),
      description: 'that of the account: with it Telnyx signs what becomes of messages',
      pattern: '^[A-Za-z0-9+/]{43}=$'
    }))
  }),
  errors: { at: '/errors/0/code', message: ['/errors/0/detail', '/errors/0/title'], map: { 10009: 'authentication_error' } },
  check: ({ settings, http }) =>
    http.get('https://api.telnyx.com/v2/balance', { bearer: settings.apiKey },
      Type.Object({ data: Type.Object({ currency: Type.String() }) })),
  services: {
    sms: {
      alphanumericSender: true,
      idempotency: { kind: 'none' },
      statuses,
      poll: textMessagePoll,

      async dispatch ({ sms: { phoneNumber, message, sender } }, { settings: { apiKey, from, profile }, webhookUrl, http }) {
        const { data } = await http.post('https://api.telnyx.com/v2/messages', {
          bearer: apiKey,
          json: {
            from: sender ?? from,
            to: phoneNumber,
            text: message,
            type: 'SMS',
            ...(profile !== undefined && { messaging_profile_id: profile }),
            ...(webhookUrl !== undefined && { webhook_url: webhookUrl })
          }
        }, Sent)
        return { id: data.id, status: statusOf(data) }
      },

      async status ({ id }, { settings: { apiKey }, http }) {
        const { data } = await http.get(`https://api.telnyx.com/v2/messages/${encodeURIComponent(id)}`, { bearer: apiKey }, Sent)
        return { status: statusOf(data), ...reasonOf(data) }
      }
    }
  },
  webhooks: {
    sms: {
      verify: {
        kind: 'signature',
        signed: ['time', { text: '|' }, 'body'],
        at: { header: 'telnyx-signature-ed25519' },
        algorithm: 'ed25519',
        encoding: 'base64',
        key: { setting: 'publicKey' },
        time: { at: { header: 'telnyx-timestamp' } }
      },
      body: Event,
      read: eventOf,
      events: statuses,
      replies
    }
  }
})

/**
 * By these words, each the whole text, recipients want no more, or again more:
 * https://developers.telnyx.com/docs/messaging/messages/advanced-opt-in-out.
 */
const keywords: Readonly<Record<string, readonly string[]>> = {
  STOP: ['STOP', 'STOPALL', 'STOP ALL', 'UNSUBSCRIBE', 'CANCEL', 'END', 'QUIT'],
  START: ['START', 'UNSTOP']
}

function eventOf ({ data: { id: eventId, event_type: kind, payload } }: Static<typeof Event>) {
  const event = { eventId, remoteId: payload.id }
  if (kind !== 'message.received') return { ...event, type: statusOf(payload), ...reasonOf(payload) }
  const written = payload.text?.trim().toUpperCase() ?? ''
  const type = Object.keys(keywords).find((word) => keywords[word]?.includes(written)) ?? 'received'
  return { ...event, type, ...(payload.from !== undefined && { recipient: payload.from.phone_number }) }
}

const statusOf = ({ to: [first] }: Static<typeof Message>): string => first?.status ?? 'queued'

function reasonOf ({ errors: [first] = [] }: Static<typeof Message>): { reason?: string } {
  return first?.title === undefined ? {} : { reason: first.title }
}
