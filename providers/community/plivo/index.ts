import { defineProvider, type HttpCall, inFrench, Secret, type Static, textMessagePoll, TextSender, Type } from '@dispatch/core/provider'

const Settings = Type.Object({
  authId: Type.String({
    title: 'Auth ID',
    ...inFrench('Auth ID', 'celui du compte : 20 lettres et chiffres'),
    description: 'that of the account: 20 letters and digits',
    pattern: '^[A-Z0-9]{20}$',
    examples: ['MAXXXXXXXXXXXXXXXXXX']
  }),
  authToken: Secret({
    title: 'Auth token',
    ...inFrench('Auth token', 'celui du compte, avec lequel Plivo signe aussi'),
    description: 'that of the account, with which Plivo signs, too',
    pattern: '^\\w{16,}$'
  }),
  from: TextSender()
})
type Call = { settings: Static<typeof Settings> }

/** The first id is that of the message to the only recipient. */
const Sent = Type.Object({ message_uuid: Type.Array(Type.String({ minLength: 1 }), { minItems: 1 }) })
const Code = Type.Optional(Type.Union([Type.String(), Type.Integer(), Type.Null()]))
const Message = Type.Object({ message_state: Type.String({ minLength: 1 }), error_code: Code })

/** What becomes of a message, or what somebody has written: https://www.plivo.com/docs/sms/api/message/handling-incoming/. */
const Event = Type.Union([
  Type.Object({ MessageUUID: Type.String({ minLength: 1 }), Status: Type.String({ minLength: 1 }), ErrorCode: Code }),
  Type.Object({
    MessageUUID: Type.String({ minLength: 1 }),
    From: Type.String({ minLength: 1 }),
    Text: Type.Optional(Type.String()),
    MessageIntent: Type.Optional(Type.String())
  })
])

const statuses = {
  queued: 'queued',
  sent: 'sent',
  delivered: 'delivered',
  undelivered: 'failed',
  failed: 'failed',
  rejected: 'failed'
} as const

/** Plivo knows these intents by its words; from a short code it tells none, so the plain words are read. */
const replies = { optout: 'stop', optin: 'start' } as const
const plain: Readonly<Record<string, string>> = { STOP: 'optout', START: 'optin' }

export default defineProvider({
  code: 'plivo',
  name: 'Plivo',
  docs: 'https://www.plivo.com/docs/sms/api/message/',
  hosts: ['api.plivo.com'],
  settings: Settings,
  errors: { message: '/error', map: { 401: 'authentication_error', 403: 'authentication_error' } },
  check: (call) => call.http.get(...ask(call, ''), Type.Object({ auth_id: Type.String() })),
  services: {
    sms: {
      alphanumericSender: true,
      idempotency: { kind: 'none' },
      statuses,
      poll: textMessagePoll,

      async dispatch ({ sms: { phoneNumber, message, sender } }, call) {
        const json = {
          src: sender ?? call.settings.from,
          dst: phoneNumber,
          text: message,
          ...(call.webhookUrl !== undefined && { url: call.webhookUrl, method: 'POST' })
        }
        const { message_uuid: [id = ''] } = await call.http.post(...ask(call, 'Message/', { json }), Sent)
        return { id, status: 'queued' }
      },

      async status ({ id }, call) {
        const { message_state: status, error_code: code } = await call.http.get(...ask(call, `Message/${encodeURIComponent(id)}/`), Message)
        return { status, ...reasonOf(code) }
      }
    }
  },
  webhooks: {
    sms: {
      form: 'form',
      // https://www.plivo.com/docs/sms/concepts/signature-validation/: the address, a dot, the sorted fields, a dot, the nonce.
      verify: {
        kind: 'signature',
        signed: ['address', { text: '.' }, { named: 'sorted' }, { text: '.' }, { header: 'X-Plivo-Signature-V3-Nonce' }],
        at: { header: 'X-Plivo-Signature-V3', separator: ',' },
        algorithm: 'hmac-sha256',
        encoding: 'base64',
        key: { secret: 'authToken' }
      },
      body: Event,
      read: eventOf,
      events: statuses,
      replies
    }
  }
})

function ask ({ settings: { authId, authToken } }: Call, path: string, more: HttpCall = {}): [url: string, call: HttpCall] {
  return [`https://api.plivo.com/v1/Account/${authId}/${path}`, { basic: [authId, authToken], ...more }]
}

function eventOf (event: Static<typeof Event>) {
  const { MessageUUID: remoteId } = event
  if ('Status' in event) {
    const { Status: type, ErrorCode: code } = event
    return { remoteId, type, eventId: `${remoteId} ${type}`, ...reasonOf(code) }
  }
  const { From: from, Text: text = '', MessageIntent: intent = '' } = event
  const type = Object.hasOwn(replies, intent) ? intent : plain[text.trim().toUpperCase()] ?? 'received'
  // It writes numbers without their +.
  return { remoteId, type, eventId: `${remoteId} ${type}`, recipient: from.replace(/^(?=\d)/, '+') }
}

/** Plivo's code of a message that was not delivered; 000 is none. */
function reasonOf (code: string | number | null = null): { reason?: string } {
  return code === null || Number(code) === 0 ? {} : { reason: `error ${code}` }
}
