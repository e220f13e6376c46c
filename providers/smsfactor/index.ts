import { defineProvider, type HttpCall, inFrench, outcomeUnknown, refused, Secret, type Static, Type } from '@dispatch/core/provider'

const Settings = Type.Object({
  token: Secret({
    title: 'API token',
    ...inFrench('Jeton d’API', 'un jeton créé dans l’espace développeur de SMSFactor'),
    description: 'a token made in the developer space of SMSFactor',
    pattern: '^\\S{16,}$'
  }),
  sender: Type.Optional(Type.String({
    title: 'Sender',
    ...inFrench('Expéditeur', 'l’expéditeur habituel, de 3 à 11 lettres et chiffres ; par défaut, un numéro court'),
    examples: ['ACME'],
    description: 'the usual sender, 3 to 11 letters and digits; a short code unless set',
    pattern: '^(?=.*[A-Za-z])[A-Za-z0-9]{3,11}$'
  })),
  webhookSignature: Type.Optional(Secret({
    title: 'Signature of the webhook',
    ...inFrench('Signature du webhook', 'un long texte au choix, donné aussi à SMSFactor comme signature du webhook'),
    description: 'a long text of your choice, which you give to SMSFactor as the signature of the webhook, too',
    pattern: '^[\\w.~+/=-]{16,200}$'
  }))
})
type Call = { settings: Static<typeof Settings> }

const Count = Type.Optional(Type.Union([Type.Integer(), Type.String({ pattern: '^\\d+$' })]))
/** The status is 1, or a negative number for a refusal; HTTP says 200 in both cases. */
const Answer = Type.Object({
  status: Type.Integer(),
  message: Type.Optional(Type.String()),
  details: Type.Optional(Type.String()),
  ticket: Type.Optional(Type.Union([Type.String({ minLength: 1 }), Type.Integer()])),
  sent: Count,
  blacklisted: Count,
  duplicated: Count,
  invalid: Count,
  npai: Count,
  not_allowed: Count,
  flood: Count,
  country_limit: Count
})

const [moderated, unknownError] = [-8, -99]

/** Why a message that was counted was not sent. */
const reasons = ['invalid', 'blacklisted', 'npai', 'not_allowed', 'country_limit', 'flood', 'duplicated'] as const

/** https://dev.smsfactor.com/en/api/sms/webhook/create-webhook */
const Report = Type.Object({
  status: Type.Union([Type.Integer(), Type.String()]),
  campaign_id: Type.Union([Type.String({ minLength: 1 }), Type.Integer()])
})

export default defineProvider({
  code: 'smsfactor',
  name: 'SMSFactor',
  docs: 'https://dev.smsfactor.com/en/api/sms/getting-started',
  hosts: ['api.smsfactor.com'],
  sandbox: { kind: 'flag' },
  settings: Settings,
  errors: { message: '/message', map: { '-1': 'authentication_error', '-3': 'provider_error', '-7': 'provider_error' } },
  check: async (call) => accepting(await call.http.get(...ask(call, '/credits'), Answer)),
  services: {
    sms: {
      alphanumericSender: true,
      idempotency: { kind: 'none' },

      async dispatch ({ sms: { phoneNumber, message: text, encoding, sender } }, call) {
        const { settings, sandbox, reference, http } = call
        const from = sender ?? settings.sender
        const message = { text, pushtype: 'alert', unicode: encoding === 'UCS-2' ? 1 : 0, ...(from !== undefined && { sender: from }) }
        const gsm = [{ gsmsmsid: reference, value: phoneNumber.slice(1) }]
        const answer = await http.post(
          ...ask(call, sandbox ? '/send/simulate' : '/send', { json: { sms: { message, recipients: { gsm } } } }),
          Answer
        )
        const { status, ticket } = accepting(answer)
        const reason = reasons.find((name) => Number(answer[name] ?? 0) > 0)
        if (Number(answer.sent ?? 1) === 0) {
          throw refused(reason ?? 'not_sent', `SMSFactor sends nothing to ${phoneNumber}: ${reason ?? 'no reason'}.`)
        }
        // A simulation has no ticket.
        if (ticket === undefined && !sandbox) throw outcomeUnknown('SMSFactor answered without a ticket.')
        return { id: String(ticket ?? reference), status: status === moderated ? 'moderated' : 'sent' }
      }
    }
  },
  webhooks: {
    sms: {
      verify: { kind: 'secret', at: { header: 'X-SMSFactor-Signature' }, secret: 'webhookSignature' },
      body: Report,
      read: ({ status, campaign_id: ticket }) => ({ remoteId: String(ticket), type: String(status), eventId: `${ticket} ${status}` }),
      events: {
        1: 'sent',
        3: 'delivered',
        4: 'failed', // not allowed
        5: 'failed', // invalid destination
        6: 'failed', // invalid sender
        7: 'failed', // no route
        9: 'failed', // rejected
        11: 'failed', // error of the network
        12: 'failed' // expired
      }
    }
  }
})

function ask ({ settings: { token } }: Call, path: string, more: HttpCall = {}): [url: string, call: HttpCall] {
  return [`https://api.smsfactor.com${path}`, { bearer: token, headers: { accept: 'application/json' }, ...more }]
}

/** A message that waits for a moderator is accepted. */
function accepting<Given extends Static<typeof Answer>> (answer: Given): Given {
  const { status, details, message = 'SMSFactor gave no reason.' } = answer
  if (status === unknownError) throw outcomeUnknown(`SMSFactor does not know what became of the message: ${details ?? message}`)
  if (status < 0 && status !== moderated) throw refused(status, details ?? message)
  return answer
}
