import { type Context, defineProvider, type HttpCall, inFrench, listOf, refused, Secret, type Static, textMessagePoll, TextSender,
  Type } from '@dispatch/core/provider'

const Settings = Type.Object({
  apiKey: Secret({
    title: 'API key',
    ...inFrench('Clé d’API', 'une clé du compte, sous Développeurs'),
    description: 'a key of the account, from the page for developers',
    pattern: '^\\w{16,}$'
  }),
  from: TextSender({ pattern: '^(\\+?[1-9]\\d{6,14}|[A-Za-z0-9 .-]{1,11})$', examples: ['ACME'] }),
  signingKey: Type.Optional(Secret({
    title: 'Signing key',
    ...inFrench('Clé de signature', 'celle avec laquelle seven signe ses webhooks'),
    description: 'the one with which seven signs its webhooks',
    pattern: '^\\S{8,}$'
  }))
})
type Call = Pick<Context<Static<typeof Settings>, unknown>, 'settings'>

const Told = Type.Optional(Type.Union([Type.String(), Type.Null()]))
const Message = Type.Object({
  id: Type.Union([Type.String({ minLength: 1 }), Type.Null()]),
  success: Type.Boolean(),
  error: Told,
  error_text: Told
})
/** The code of a refusal stands alone, or in an answer without messages; the status is 200. */
const Sent = Type.Union([
  Type.Integer(),
  Type.Object({ success: Type.String(), messages: Type.Optional(Type.Array(Message)) })
])
const State = Type.Object({ status: Type.String({ minLength: 1 }) })
const Balance = Type.Object({ amount: Type.Number() })

/** What becomes of a message, or what somebody has written to a number of the account. */
const Event = Type.Union([
  Type.Object({
    webhook_event: Type.Literal('dlr'),
    data: Type.Object({ msg_id: Type.String({ minLength: 1 }), status: Type.String({ minLength: 1 }), timestamp: Type.String() })
  }),
  Type.Object({
    webhook_event: Type.Literal('sms_mo'),
    data: Type.Object({ id: Type.String({ minLength: 1 }), sender: Type.String(), text: Type.String() })
  })
])

/** Each the whole text of an answer. */
const replies = { STOP: 'stop', START: 'start' } as const

const statuses = {
  ACCEPTED: 'queued',
  BUFFERED: 'queued',
  TRANSMITTED: 'sent',
  DELIVERED: 'delivered',
  NOTDELIVERED: 'failed',
  EXPIRED: 'failed',
  REJECTED: 'failed',
  FAILED: 'failed'
} as const

export default defineProvider({
  code: 'seven',
  name: 'seven',
  docs: 'https://docs.seven.io/en/rest-api/endpoints/sms',
  hosts: ['gateway.seven.io'],
  settings: Settings,
  errors: { map: { 700: 'outcome_unknown', 900: 'authentication_error', 902: 'authentication_error', 903: 'authentication_error' } },
  check: async (call) => {
    const answer = await call.http.get(...ask(call, 'balance'), Type.Union([Type.Integer(), Balance]))
    if (typeof answer === 'number') throw refusedWith(String(answer))
  },
  services: {
    sms: {
      alphanumericSender: true,
      idempotency: { kind: 'none' },
      statuses,
      poll: textMessagePoll,

      async dispatch ({ sms: { phoneNumber: to, message: text, sender } }, call) {
        const json = { to, text, from: sender ?? call.settings.from, foreign_id: call.reference }
        const answer = await call.http.post(...ask(call, 'sms', { json }), Sent)
        if (typeof answer === 'number') throw refusedWith(String(answer))
        const [message] = answer.messages ?? []
        if (message?.success !== true || message.id === null) {
          throw refusedWith(message?.error ?? answer.success, message?.error_text ?? undefined)
        }
        return { id: message.id, status: 'ACCEPTED' }
      },

      async status ({ id }, call) {
        const [state] = listOf(
          await call.http.get(...ask(call, 'status', { query: { msg_id: id } }), Type.Union([State, Type.Array(State)]))
        )
        return { status: state?.status ?? 'UNKNOWN' }
      }
    }
  },
  webhooks: {
    sms: {
      verify: {
        kind: 'signature',
        signed: [
          'time',
          { text: '\n' },
          { header: 'X-Nonce' },
          { text: '\n' },
          'method',
          { text: '\n' },
          'address',
          { text: '\n' },
          { hash: 'md5', of: ['body'] }
        ],
        at: { header: 'X-Signature' },
        algorithm: 'hmac-sha256',
        encoding: 'hex',
        key: { secret: 'signingKey' },
        time: { at: { header: 'X-Timestamp' } }
      },
      body: Event,
      read: eventOf,
      events: statuses,
      replies
    }
  }
})

function eventOf (event: Static<typeof Event>) {
  if (event.webhook_event === 'dlr') {
    const { msg_id: remoteId, status: type, timestamp } = event.data
    return { remoteId, type, eventId: `${remoteId} ${type} ${timestamp}` }
  }
  const { id: remoteId, sender, text } = event.data
  const written = text.trim().toUpperCase()
  // It writes numbers without their +.
  return {
    remoteId,
    eventId: remoteId,
    type: Object.hasOwn(replies, written) ? written : 'received',
    recipient: sender.replace(/^(?=\d)/, '+')
  }
}

function ask ({ settings: { apiKey } }: Call, path: string, more: HttpCall = {}): [url: string, call: HttpCall] {
  return [`https://gateway.seven.io/api/${path}`, {
    apiKey: { header: 'X-Api-Key', value: apiKey },
    headers: { accept: 'application/json' },
    ...more
  }]
}

function refusedWith (code: string, message = `seven has refused with ${code}.`): Error {
  return refused(code, message)
}
