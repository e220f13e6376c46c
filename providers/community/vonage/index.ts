import { defineProvider, Secret, type Static, Type } from '@dispatch/core/provider'

const Sent = Type.Object({ message_uuid: Type.String() })

/** What becomes of a message, or what somebody has written: https://developer.vonage.com/en/messages/code-snippets/inbound-message. */
const Event = Type.Union([
  Type.Object({
    message_uuid: Type.String({ minLength: 1 }),
    status: Type.String({ minLength: 1 }),
    error: Type.Optional(Type.Object({ title: Type.Optional(Type.String()) }))
  }),
  Type.Object({
    message_uuid: Type.String({ minLength: 1 }),
    from: Type.String({ minLength: 1 }),
    channel: Type.Optional(Type.String()),
    text: Type.Optional(Type.String())
  })
])

/** Each the whole text of an answer. */
const replies = { STOP: 'stop', START: 'start' } as const

export default defineProvider({
  code: 'vonage',
  name: 'Vonage',
  docs: 'https://developer.vonage.com/en/api/messages',
  hosts: ['api.nexmo.com'],
  settings: Type.Object({
    apiKey: Type.String({
      title: 'API key',
      'x-texts': { fr: { title: 'Clé d’API', description: 'la clé du compte, 8 lettres et chiffres' } },
      description: 'the key of the account, 8 letters and digits',
      pattern: '^[0-9a-zA-Z]{8}$'
    }),
    apiSecret: Secret({
      title: 'API secret',
      pattern: '^\\S+$',
      'x-texts': { fr: { title: 'Secret d’API', description: 'Le secret du compte.' } },
      description: 'The secret of the account.'
    }),
    from: Type.String({
      title: 'Sender',
      'x-texts': {
        fr: {
          title: 'Expéditeur',
          description: 'l’expéditeur habituel : un numéro du compte sans +, ou un nom de 11 lettres et chiffres au plus'
        }
      },
      description: 'the usual sender: a number of the account without +, or a name of up to 11 letters and digits',
      pattern: '^([1-9][0-9]{6,14}|[A-Za-z0-9 ]{1,11})$'
    }),
    signatureSecret: Type.Optional(Secret({
      title: 'Signature secret',
      pattern: '^\\S+$',
      'x-texts': {
        fr: { title: 'Secret de signature', description: 'Celui du compte : avec lui, Vonage signe ce que deviennent les messages.' }
      },
      description: 'That of the account: with it Vonage signs what becomes of messages.',
      minLength: 16
    }))
  }),
  // RFC 9457: https://developer.vonage.com/en/api-errors/messages
  errors: {
    at: '/title',
    message: '/detail',
    map: { Unauthorized: 'authentication_error', 'Low balance': 'provider_error', 'Rate Limit Hit': 'provider_unavailable' }
  },
  services: {
    sms: {
      alphanumericSender: true,
      idempotency: { kind: 'none' },

      async dispatch ({ sms: { phoneNumber, message, sender } }, { settings: { apiKey, apiSecret, from }, reference, http }) {
        const { message_uuid: id } = await http.post('https://api.nexmo.com/v1/messages', {
          basic: [apiKey, apiSecret],
          json: {
            message_type: 'text',
            channel: 'sms',
            from: sender ?? from,
            to: phoneNumber.slice(1),
            text: message,
            client_ref: reference
          }
        }, Sent)
        return { id, status: 'sent' }
      }
    }
  },
  // https://developer.vonage.com/en/messages/concepts/signed-webhooks
  webhooks: {
    sms: {
      verify: { kind: 'jwt', algorithm: 'HS256', secret: 'signatureSecret', issuer: 'Vonage' },
      body: Event,
      read: eventOf,
      events: { delivered: 'delivered', rejected: 'failed', undeliverable: 'failed' },
      replies
    }
  }
})

function eventOf (event: Static<typeof Event>) {
  const { message_uuid: remoteId } = event
  if ('status' in event) return { remoteId, type: event.status, ...(event.error?.title !== undefined && { reason: event.error.title }) }
  const { channel = 'sms', text = '' } = event
  const written = text.trim().toUpperCase()
  // What comes in by other channels, which may have the same address, is about those. It writes numbers without their +.
  return {
    remoteId,
    type: channel === 'sms' && Object.hasOwn(replies, written) ? written : 'received',
    recipient: event.from.replace(/^(?=\d)/, '+')
  }
}
