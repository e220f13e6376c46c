import { defineProvider, Host, type Http, type HttpCall, inFrench, refused, Secret, type Static, textMessagePoll, TextSender,
  Type } from '@dispatch/core/provider'

const Settings = Type.Object({
  account: Host({
    title: 'Account',
    ...inFrench('Compte', 'le début de l’adresse de base du compte, devant .api.infobip.com'),
    description: 'the beginning of the base address of the account, before .api.infobip.com',
    pattern: '^[a-z0-9-]{3,40}$',
    examples: ['xyz123']
  }),
  apiKey: Secret({
    title: 'API key',
    ...inFrench('Clé d’API', 'une clé avec le droit « sms:message:send » et celui de lire les journaux'),
    description: 'a key with the scope "sms:message:send" and that of reading logs',
    pattern: '^[\\w-]{16,}$'
  }),
  from: TextSender({ pattern: '^(\\+?[1-9]\\d{2,14}|[A-Za-z0-9 ]{1,11})$' })
})
type Call = { settings: Static<typeof Settings> }

const State = Type.Object({ groupName: Type.String({ minLength: 1 }), name: Type.String(), description: Type.Optional(Type.String()) })
type State = Static<typeof State>
const Sent = Type.Object({ messages: Type.Array(Type.Object({ status: State }), { minItems: 1 }) })
const Logs = Type.Object({ results: Type.Array(Type.Object({ status: State })) })

/** https://www.infobip.com/docs/essentials/api-essentials/response-status-and-error-codes: the groups of statuses. */
const statuses = {
  ACCEPTED: 'queued',
  PENDING: 'queued',
  DELIVERED: 'delivered',
  UNDELIVERABLE: 'failed',
  EXPIRED: 'failed',
  REJECTED: 'failed'
} as const

const minute = 60

export default defineProvider({
  code: 'infobip',
  name: 'Infobip',
  docs: 'https://www.infobip.com/docs/api/channels/sms/outbound-sms/send-sms-messages',
  hosts: ['{account}.api.infobip.com'],
  settings: Settings,
  errors: {
    at: ['/errorCode', '/requestError/serviceException/messageId'],
    message: ['/description', '/requestError/serviceException/text'],
    map: { UNAUTHORIZED: 'authentication_error', E401: 'authentication_error', REJECTED_NOT_ENOUGH_CREDITS: 'provider_error' }
  },
  services: {
    sms: {
      alphanumericSender: true,
      // The id of a message is ours, and logs are found by it.
      idempotency: { kind: 'lookup', visibleAfter: 10 * minute },
      statuses,
      poll: textMessagePoll,

      async dispatch ({ sms: { phoneNumber, message, sender } }, call) {
        const { reference, webhookUrl } = call
        const { messages: [sent] } = await call.http.post(...ask(call, 'messages', {
          json: {
            messages: [{
              sender: sender ?? call.settings.from,
              destinations: [{ to: phoneNumber.slice(1), messageId: reference }],
              content: { text: message },
              ...(webhookUrl !== undefined && { webhooks: { delivery: { url: webhookUrl }, contentType: 'application/json' } })
            }]
          }
        }), Sent)
        if (sent?.status.groupName === 'REJECTED') throw refused(sent.status.name, sent.status.description ?? sent.status.name)
        return { id: reference, status: sent?.status.groupName ?? 'PENDING' }
      },

      async lookup ({ reference: id }, call) {
        const state = await stateOf(id, call)
        if (state === undefined) return { found: 'absent' }
        if (state.groupName !== 'REJECTED') return { found: 'accepted', response: { id, status: state.groupName } }
        return { found: 'rejected', code: state.name, message: state.description ?? state.name }
      },

      async status ({ id }, call) {
        const { groupName: status = 'PENDING', description } = await stateOf(id, call) ?? {}
        return { status, ...(description !== undefined && status !== 'DELIVERED' && { reason: description }) }
      }
    }
  },
  webhooks: {
    sms: {
      // Nobody signs it: it says only that Infobip is to be asked.
      verify: { kind: 'hint' },
      confirm: true,
      body: Type.Object({
        results: Type.Array(Type.Object({ messageId: Type.String({ minLength: 1 }), status: Type.Object({ groupName: Type.String() }) }))
      }),
      read: ({ results }) => results.map(({ messageId: remoteId, status: { groupName: type } }) => ({ remoteId, type })),
      events: statuses
    }
  }
})

async function stateOf (messageId: string, call: Call & { http: Pick<Http, 'get'> }): Promise<State | undefined> {
  const { results: [found] } = await call.http.get(...ask(call, 'logs', { query: { messageId } }), Logs)
  return found?.status
}

function ask ({ settings: { account, apiKey } }: Call, path: string, more: HttpCall): [url: string, call: HttpCall] {
  return [`https://${account}.api.infobip.com/sms/3/${path}`, { apiKey: { header: 'Authorization', value: `App ${apiKey}` }, ...more }]
}
