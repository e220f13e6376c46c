import { type Context, defineProvider, given, Host, type HttpCall, inFrench, Secret, type Static, textMessagePoll, TextSender,
  Type } from '@dispatch/core/provider'

const Settings = Type.Object({
  apiKey: Secret({
    title: 'API key',
    ...inFrench('Clé d’API', 'une clé de l’espace de travail, qui commence par bk_'),
    description: 'a key of the workspace, which begins with bk_',
    pattern: '^bk_[a-z]{2}\\d+_\\w{8,}$'
  }),
  region: Host({
    title: 'Region',
    ...inFrench('Région', 'celle de l’espace de travail : ce qui suit bk_ dans la clé, par exemple eu1'),
    description: 'that of the workspace: what follows bk_ in the key, such as eu1',
    pattern: '^[a-z]{2}\\d+$',
    examples: ['eu1']
  }),
  from: TextSender({ pattern: '^(\\+[1-9]\\d{6,14}|\\d{5,6}|(?=.*[A-Za-z])[A-Za-z0-9 _-]{1,11})$' }),
  webhookSecret: Type.Optional(Secret({
    title: 'Webhook secret',
    ...inFrench('Secret du webhook', 'le secret de signature du webhook, qui commence par whsec_'),
    description: 'the signing secret of the webhook, which begins with whsec_',
    pattern: '^whsec_[A-Za-z0-9+/=]{8,}$'
  }))
})
type Call = Pick<Context<Static<typeof Settings>, unknown>, 'settings'>

const Failure = Type.Optional(Type.Union([Type.Object({ description: Type.String() }), Type.Null()]))
const Message = Type.Object({ id: Type.String({ minLength: 1 }), status: Type.String({ minLength: 1 }), last_error: Failure })

/** What becomes of a message, or that somebody wants no more: https://bird.com/en-us/products/sms/two-way. */
const Event = Type.Object({
  type: Type.String({ minLength: 1 }),
  data: Type.Object({ from: Type.String({ minLength: 1 }), sms_id: Type.Optional(Type.String({ minLength: 1 })), error: Failure })
})
const stopped = 'sms.opted_out'

const hour = 3600

export default defineProvider({
  code: 'bird',
  name: 'Bird',
  docs: 'https://bird.com/docs/api/reference/create-sms-message',
  hosts: ['{region}.platform.bird.com'],
  settings: Settings,
  errors: {
    at: '/error/type',
    message: '/error/message',
    map: {
      auth_error: 'authentication_error',
      permission_error: 'authentication_error',
      billing_error: 'provider_error',
      validation_error: 'provider_error'
    }
  },
  check: (call) => call.http.get(...ask(call, '', { query: { limit: 1 } }), Type.Object({ data: Type.Array(Type.Unknown()) })),
  services: {
    sms: {
      alphanumericSender: true,
      maxSegments: 12,
      idempotency: { kind: 'key', ttl: 3 * hour },
      statuses: {
        scheduled: 'queued',
        accepted: 'queued',
        sent: 'sent',
        delivered: 'delivered',
        undelivered: 'failed',
        failed: 'failed',
        rejected: 'failed',
        canceled: 'failed',
        expired: 'failed'
      },
      poll: textMessagePoll,

      async dispatch ({ sms: { phoneNumber: to, message: text, sender } }, call) {
        const { id, status } = await call.http.post(...ask(call, '', {
          headers: { 'idempotency-key': call.idempotencyKey },
          json: { to, from: sender ?? call.settings.from, text, category: 'transactional', metadata: { reference: call.reference } }
        }), Message)
        return { id, status }
      },

      async status ({ id }, call) {
        const { status, last_error: error } = await call.http.get(...ask(call, `/${encodeURIComponent(id)}`), Message)
        return { status, ...given({ reason: error?.description }) }
      }
    }
  },
  webhooks: {
    sms: {
      verify: { kind: 'standard', secret: 'webhookSecret' },
      body: Event,
      read: eventOf,
      events: {
        'sms.accepted': 'queued',
        'sms.sent': 'sent',
        'sms.delivered': 'delivered',
        'sms.undelivered': 'failed',
        'sms.failed': 'failed',
        'sms.rejected': 'failed',
        'sms.expired': 'failed'
      },
      replies: { [stopped]: 'stop' }
    }
  }
})

/** Bird shows no id of what came from somebody: it is known by whose it is. */
function eventOf ({ type, data: { from, sms_id: remoteId = from, error } }: Static<typeof Event>) {
  return { remoteId, type, ...given({ reason: error?.description, recipient: type === stopped || remoteId === from ? from : undefined }) }
}

function ask ({ settings: { apiKey, region } }: Call, path: string, more: HttpCall = {}): [url: string, call: HttpCall] {
  return [`https://${region}.platform.bird.com/v1/sms/messages${path}`, { bearer: apiKey, ...more }]
}
