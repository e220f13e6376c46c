import { type Context, defineProvider, type HttpCall, listOf, refused, type Static, textMessagePoll, Type } from '@dispatch/core/provider'
import { Settings } from './settings.ts'
import { statuses, webhook } from './webhook.ts'

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
  webhooks: { sms: webhook }
})

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
