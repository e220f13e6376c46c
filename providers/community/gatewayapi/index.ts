import { defineProvider, given, type HttpCall, inFrench, Secret, type Static, textMessagePoll, TextSender,
  Type } from '@dispatch/core/provider'

const Settings = Type.Object({
  apiToken: Secret({
    title: 'API token',
    ...inFrench('Jeton d’API', 'un jeton du compte'),
    description: 'a token of the account',
    pattern: '^[\\w.-]{16,}$'
  }),
  region: Type.Optional(Type.Union([
    Type.Literal('global', { title: 'Global', ...inFrench('Monde') }),
    Type.Literal('eu', { title: 'Europe', ...inFrench('Europe') })
  ], {
    title: 'Region',
    ...inFrench('Région', 'où est le compte : gatewayapi.com (par défaut) ou gatewayapi.eu'),
    description: 'where the account is: gatewayapi.com (unless set) or gatewayapi.eu'
  })),
  from: TextSender({ pattern: '^(\\+?[1-9]\\d{2,14}|[A-Za-z0-9 ]{1,11})$' }),
  webhookSecret: Type.Optional(Secret({
    title: 'Webhook secret',
    ...inFrench('Secret du webhook', 'celui avec lequel GatewayAPI signe ses webhooks (JWT)'),
    description: 'the one with which GatewayAPI signs its webhooks (JWT)',
    pattern: '^\\S{8,}$'
  }))
})
type Call = { settings: Static<typeof Settings> }

const Sent = Type.Object({ ids: Type.Array(Type.Integer(), { minItems: 1 }) })
const Told = Type.Optional(Type.Union([Type.String(), Type.Null()]))
const Recipient = Type.Object({ dsnstatus: Type.String({ minLength: 1 }), dsnerror: Told })
const Message = Type.Object({ recipients: Type.Array(Recipient, { minItems: 1 }) })

/** What becomes of a message, or what somebody has written to a number of the account: https://gatewayapi.com/docs/webhooks. */
const Event = Type.Union([
  Type.Object({ id: Type.Integer(), status: Type.String({ minLength: 1 }), time: Type.Integer(), error: Told }),
  Type.Object({ id: Type.Integer(), msisdn: Type.Integer(), message: Type.String() })
])

/** Each the whole text of an answer. */
const replies = { STOP: 'stop', START: 'start' } as const

/** https://gatewayapi.com/docs/apis/rest/#sms-delivery-status */
const statuses = {
  SCHEDULED: 'queued',
  BUFFERED: 'queued',
  ENROUTE: 'sent',
  ACCEPTED: 'sent',
  DELIVERED: 'delivered',
  EXPIRED: 'failed',
  DELETED: 'failed',
  UNDELIVERABLE: 'failed',
  REJECTED: 'failed',
  SKIPPED: 'failed'
} as const

export default defineProvider({
  code: 'gatewayapi',
  name: 'GatewayAPI',
  docs: 'https://gatewayapi.com/docs/apis/rest/',
  hosts: ['gatewayapi.com', 'gatewayapi.eu'],
  settings: Settings,
  errors: { at: '/code', message: '/message', map: { 401: 'authentication_error', '0x0216': 'provider_error' } },
  services: {
    sms: {
      alphanumericSender: true,
      idempotency: { kind: 'none' },
      statuses,
      poll: textMessagePoll,

      async dispatch ({ sms: { phoneNumber, message, sender, encoding } }, call) {
        const { ids: [id] } = await call.http.post(...ask(call, '', {
          json: {
            sender: sender ?? call.settings.from,
            message,
            recipients: [{ msisdn: Number(phoneNumber.slice(1)) }],
            encoding: encoding === 'UCS-2' ? 'UCS2' : 'UTF8',
            userref: call.reference,
            ...given({ callback_url: call.webhookUrl })
          }
        }), Sent)
        return { id: String(id), status: 'BUFFERED' }
      },

      async status ({ id }, call) {
        const { recipients: [one] } = await call.http.get(...ask(call, `/${encodeURIComponent(id)}`, {}), Message)
        return { status: one?.dsnstatus ?? 'UNKNOWN', ...given({ reason: one?.dsnerror ?? undefined }) }
      }
    }
  },
  webhooks: {
    sms: {
      // The claims of the token are the event: the body beside it is not signed.
      form: 'token',
      verify: { kind: 'token', at: { header: 'X-Gwapi-Signature' }, algorithm: 'HS256', key: { secret: 'webhookSecret' } },
      body: Event,
      read: eventOf,
      events: statuses,
      replies
    }
  }
})

function eventOf (event: Static<typeof Event>) {
  if ('status' in event) {
    const { id, status: type, time, error } = event
    return { remoteId: String(id), type, eventId: `${id} ${type} ${time}`, ...given({ reason: error ?? undefined }) }
  }
  const { id, msisdn, message } = event
  const written = message.trim().toUpperCase()
  // Messages that come in have numbers of their own, which may be those of messages that were sent.
  const remoteId = `received ${id}`
  const type = Object.hasOwn(replies, written) ? written : 'received'
  return { remoteId, type, eventId: `${remoteId} ${type}`, recipient: `+${msisdn}` }
}

function ask ({ settings: { apiToken, region } }: Call, path: string, more: HttpCall): [url: string, call: HttpCall] {
  return [`https://gatewayapi.${region === 'eu' ? 'eu' : 'com'}/rest/mtsms${path}`, {
    apiKey: { header: 'Authorization', value: `Token ${apiToken}` },
    ...more
  }]
}
