import { type Context, defineProvider, given, type HttpCall, inFrench, refused, Secret, type Static, textMessagePoll, TextSender,
  Type } from '@dispatch/core/provider'

const Settings = Type.Object({
  username: Type.String({
    title: 'User name',
    ...inFrench('Nom d’utilisateur', 'celui de la page « API credentials »'),
    description: 'that of the page "API credentials"',
    pattern: '^[^\\s:]{1,100}$',
    examples: ['billing@acme.example']
  }),
  apiKey: Secret({
    title: 'API key',
    ...inFrench('Clé d’API', 'celle de la même page'),
    description: 'that of the same page',
    pattern: '^[\\w-]{16,}$'
  }),
  from: Type.Optional(TextSender({ pattern: '^(\\+?[1-9]\\d{2,14}|[A-Za-z0-9]{1,11})$', examples: ['ACME'] }))
})
type Call = Pick<Context<Static<typeof Settings>, unknown>, 'settings'>

const Told = Type.Optional(Type.Union([Type.String(), Type.Null()]))
const Code = Type.Optional(Type.Union([Type.String(), Type.Integer(), Type.Null()]))
const Sent = Type.Object({
  data: Type.Object({
    messages: Type.Array(Type.Object({ message_id: Told, status: Type.String({ minLength: 1 }) }), { minItems: 1, maxItems: 1 })
  })
})
const Message = Type.Object({ status: Type.String({ minLength: 1 }), status_code: Code, error_text: Told })
const History = Type.Object({ data: Type.Object({ data: Type.Array(Message) }) })

/** What a carrier tells of a message that a handset has. */
const received = '201'

export default defineProvider({
  code: 'clicksend',
  name: 'ClickSend',
  docs: 'https://developers.clicksend.com/docs/messaging/sms/',
  hosts: ['rest.clicksend.com'],
  settings: Settings,
  errors: {
    at: '/response_code',
    message: '/response_msg',
    map: {
      UNAUTHORIZED: 'authentication_error',
      INVALID_CREDENTIALS: 'authentication_error',
      ACCOUNT_NOT_ACTIVATED: 'authentication_error',
      THROTTLED: 'provider_unavailable',
      INTERNAL_ERROR: 'outcome_unknown',
      SOMETHING_IS_WRONG: 'outcome_unknown'
    }
  },
  check: (call) => call.http.get(...ask(call, 'account'), Type.Object({ response_code: Type.Literal('SUCCESS') })),
  services: {
    sms: {
      alphanumericSender: true,
      idempotency: { kind: 'none' },
      statuses: {
        Scheduled: 'queued',
        WaitApproval: 'queued',
        Queued: 'queued',
        Sent: 'sent',
        Completed: 'sent',
        [received]: 'delivered',
        Failed: 'failed',
        Cancelled: 'failed',
        CancelledAfterReview: 'failed'
      },
      poll: textMessagePoll,

      async dispatch ({ sms: { phoneNumber: to, message: body, sender } }, call) {
        const message = given({ to, body, from: sender ?? call.settings.from, custom_string: call.reference })
        const { data: { messages: [sent] } } = await call.http.post(...ask(call, 'sms/send', { json: { messages: [message] } }), Sent)
        // Each message has an outcome of its own: the answer is a 200 all the same.
        if (sent?.status !== 'SUCCESS' || typeof sent.message_id !== 'string') {
          throw refused(sent?.status ?? 'NOT_ACCEPTED', `ClickSend has not taken the message: ${sent?.status ?? 'it says nothing of it'}.`)
        }
        return { id: sent.message_id, status: 'Queued' }
      },

      async status ({ id }, call) {
        const query = { q: `message_id:${id}` }
        const { data: { data: [message] } } = await call.http.get(...ask(call, 'sms/history', { query }), History)
        const status = message?.status_code?.toString() === received ? received : message?.status ?? 'Unknown'
        return { status, ...given({ reason: message?.error_text ?? undefined }) }
      }
    }
  },
  webhooks: {
    sms: {
      // Nobody signs it: it says only that ClickSend is to be asked.
      verify: { kind: 'hint' },
      confirm: true,
      body: Type.Object({ message_id: Type.String({ minLength: 1 }), status_code: Type.Union([Type.String(), Type.Integer()]) }),
      read: ({ message_id: remoteId, status_code: code }) => ({ remoteId, type: String(code) }),
      events: { [received]: 'delivered' }
    }
  }
})

function ask ({ settings: { username, apiKey } }: Call, path: string, more: HttpCall = {}): [url: string, call: HttpCall] {
  return [`https://rest.clicksend.com/v3/${path}`, { basic: [username, apiKey], ...more }]
}
