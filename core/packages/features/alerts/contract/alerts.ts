import { Line, Uuid } from '@dispatch/common'
import { alertKinds, ProviderCode, Timestamp } from '@dispatch/contract'
import { type ServiceName, serviceNames } from '@dispatch/services'
import { type Static, Type } from 'typebox'

export { alertKinds, serviceNames }
export type AlertKind = typeof alertKinds[number]

/** The numbers of a condition, in the order in which forms ask for them. */
export const numbers = ['percent', 'least', 'minutes', 'credits'] as const
/** Which dispatches a condition looks at. */
export const filters = ['service', 'provider'] as const

/** What a condition of each kind says: all of its numbers, and its filters where somebody wants them. */
export const factsOf: Readonly<Record<AlertKind, { numbers: readonly typeof numbers[number][], filtered: boolean }>> = {
  failures: { numbers: ['percent', 'least', 'minutes'], filtered: true },
  provider_unavailable: { numbers: ['least', 'minutes'], filtered: true },
  credits_low: { numbers: ['credits'], filtered: false },
  callbacks_failing: { numbers: ['minutes'], filtered: false },
  doubt: { numbers: ['minutes'], filtered: true }
}

/** The most alerts of a company, and the most addresses of one. */
export const maxAlerts = 20
export const maxEmails = 10

const condition = {
  percent: Type.Optional(Type.Integer({ minimum: 1, maximum: 100, description: 'failures: the share of steps that fail, or more.' })),
  least: Type.Optional(Type.Integer({
    minimum: 1,
    maximum: 1_000,
    description: 'failures: of fewer ended steps nothing is said. provider_unavailable: how many calls in a row find it away.'
  })),
  minutes: Type.Optional(Type.Integer({
    minimum: 5,
    maximum: 1_440,
    description: 'failures, provider_unavailable: how far back dispatches count. callbacks_failing, doubt: for how long.'
  })),
  credits: Type.Optional(Type.Integer({ minimum: 1, maximum: 1_000_000_000, description: 'credits_low: fewer than these are free.' })),
  service: Type.Optional(Type.Unsafe<ServiceName>(Type.Enum([...serviceNames], { description: 'Only steps of this service.' }))),
  provider: Type.Optional(ProviderCode)
}

const Format = Type.Enum(['slack', 'teams'], { description: 'slack: `{ text }`, which other chats take too. teams: an adaptive card.' })

const common = {
  name: Line(100, { description: 'What messages call it.', examples: ['Invoices fail'] }),
  kind: Type.Enum([...alertKinds], {
    description: 'failures: steps fail. provider_unavailable: the last calls to a provider all found it away. credits_low: few credits ' +
      'are free. callbacks_failing: a receiver takes no callbacks. doubt: nobody knows whether something was sent.'
  }),
  ...condition
}

const shown = {
  language: Type.Enum(['en', 'fr'], { description: 'In which mails and chats are written to.' }),
  emails: Type.Array(Type.String(), {
    description: 'Of users of the company, or within its domains. Whoever is neither any more gets nothing.',
    examples: [['ada@example.com']]
  }),
  callback: Type.Boolean({ description: 'Tell it by `alert.began` and `alert.ended`.' })
}

export const AlertBody = Type.Object({
  ...common,
  language: Type.Optional(shown.language),
  emails: Type.Optional(Type.Array(Type.String({ format: 'email', maxLength: 254, examples: ['ada@example.com'] }), {
    maxItems: maxEmails,
    description: 'Of users of the company, or within its domains.'
  })),
  callback: Type.Optional(shown.callback),
  chat: Type.Optional(Type.Union([
    Type.Object({
      format: Format,
      url: Type.Optional(Type.String({
        format: 'https-url',
        maxLength: 2_000,
        description: 'The secret address of an incoming webhook; it is not shown again. Left out: the one that is stored.',
        examples: ['https://hooks.chat.example.com/services/T1/B2/secret']
      }))
    }, { additionalProperties: false }),
    Type.Null()
  ], { description: 'null, or left out: none.' }))
}, {
  title: 'NewAlert',
  additionalProperties: false,
  examples: [{ name: 'Invoices fail', kind: 'failures', percent: 20, least: 10, minutes: 60, emails: ['ada@example.com'], callback: true }]
})
export type AlertBody = Static<typeof AlertBody>

export const AlertView = Type.Object({
  id: Uuid,
  ...common,
  ...shown,
  chat: Type.Union([
    Type.Object({ format: Format, host: Type.String({ description: 'The rest of the address is secret.' }) }),
    Type.Null()
  ]),
  firing: Type.Boolean({ description: 'It has begun, and has not ended.' }),
  since: Type.Union([Timestamp, Type.Null()], { description: 'When it began or ended last; null: it never began.' }),
  undelivered: Type.Array(Type.Enum(['mail', 'chat']), { description: 'The ways by which the last message did not arrive.' })
}, { title: 'Alert' })
export type AlertView = Static<typeof AlertView>

export const TrialView = Type.Object({
  results: Type.Array(Type.Object({
    way: Type.Enum(['mail', 'chat', 'callback']),
    sent: Type.Boolean(),
    reason: Type.Optional(Type.String({ description: 'Why it was not sent.', examples: ['The receiver answered 404.'] }))
  }), { description: 'One for each way of the alert.' })
}, { title: 'AlertTrial', examples: [{ results: [{ way: 'chat', sent: true }] }] })
export type TrialView = Static<typeof TrialView>
