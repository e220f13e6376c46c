import { Line, Uuid } from '@dispatch/common'
import { Timestamp } from '@dispatch/contract'
import { serviceNames } from '@dispatch/services'
import { type Static, Type } from 'typebox'

/** The services that a rule may be about. */
export const ruledServices = [...serviceNames]

/** The most rules of a company, and people that one names. */
export const [maxRules, maxPeople] = [50, 50]

const People = (description: string) =>
  Type.Optional(Type.Array(Type.Integer({ minimum: 1, maximum: 2_147_483_647 }), { maxItems: maxPeople, uniqueItems: true, description }))

const conditions = {
  amountAbove: Type.Optional(Type.Number({
    minimum: 0,
    maximum: 1e15,
    description: 'A document whose total is above it. An invoicing document that says no total counts as above.'
  })),
  currency: Type.Optional(Type.String({
    pattern: '^[A-Z]{3}$',
    description: 'Of the amount: a document in another currency counts as above. Without it, the currency does not matter.',
    examples: ['EUR']
  })),
  creditsAbove: Type.Optional(Type.Integer({ minimum: 0, maximum: 1_000_000_000, description: 'A dispatch or a batch that costs more.' })),
  recipientsAbove: Type.Optional(Type.Integer({ minimum: 1, maximum: 100_000, description: 'A message to more recipients.' })),
  rowsAbove: Type.Optional(Type.Integer({ minimum: 0, maximum: 1_000_000, description: 'A batch of more rows.' }))
}

/** A rule by which somebody else has to approve what is sent. */
export const RuleBody = Type.Object({
  name: Line(80, { description: 'What whoever waits for it reads.', examples: ['Invoices above 10,000'] }),
  services: Type.Optional(Type.Array(Type.Enum(ruledServices), {
    minItems: 1,
    uniqueItems: true,
    description: 'A dispatch that has one of them; all of them, unless given.'
  })),
  ...conditions,
  exempt: People('The users who may send it alone, as themselves. Their API keys may not.'),
  approvers: People('The users who may approve it; the admins, unless given.')
}, {
  title: 'ApprovalRuleBody',
  additionalProperties: false,
  description: 'Several conditions: one of them is enough. None: everything that is sent.',
  examples: [{
    name: 'Invoices above 10,000',
    services: ruledServices.slice(0, 1),
    amountAbove: 10_000,
    currency: 'EUR',
    approvers: [7, 9]
  }]
})
export type RuleBody = Static<typeof RuleBody>

export const RuleView = Type.Object({ id: Uuid, ...RuleBody.properties, createdAt: Timestamp }, { title: 'ApprovalRule' })
export type RuleView = Static<typeof RuleView>
