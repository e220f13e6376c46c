import { Uuid } from '@dispatch/common'
import { budgetScopes, budgetUnits } from '@dispatch/credits'
import { type Static, Type } from 'typebox'

const Amount = Type.Integer({ minimum: 0, maximum: 1_000_000_000, description: 'What may be used in a month (UTC).' })
const HardStop = Type.Boolean({
  description: 'A dispatch that would go beyond it is refused with `budget_exceeded`, before anything is sent. False: it is only told of.'
})

export const BudgetChanges = Type.Object({ amount: Amount, hardStop: HardStop }, {
  title: 'BudgetChanges',
  additionalProperties: false,
  examples: [{ amount: 500, hardStop: true }]
})
export type BudgetChanges = Static<typeof BudgetChanges>

const facts = {
  scope: Type.Enum([...budgetScopes], { description: 'Whose budget it is.' }),
  unit: Type.Enum([...budgetUnits], {
    description:
      '`credits`: those that are charged, and held for what is under way. `dispatches`: all that are begun, also those that fail; ' +
      'not those that are cancelled before anything was sent, and no tests.'
  }),
  amount: Amount,
  hardStop: HardStop
}

export const BudgetBody = Type.Object({
  ...facts,
  subject: Type.Optional(Type.String({
    maxLength: 40,
    pattern: '^([1-9]\\d{0,9}|[0-9a-f-]{36})$',
    description: 'The number of the user or the id of the API key; left out for the company.',
    examples: ['7']
  }))
}, { title: 'NewBudget', additionalProperties: false, examples: [{ scope: 'company', unit: 'dispatches', amount: 500, hardStop: true }] })
export type BudgetBody = Static<typeof BudgetBody>

export const BudgetView = Type.Object({
  id: Uuid,
  ...facts,
  subject: Type.Union([Type.String(), Type.Null()], {
    description: 'The number of the user or the id of the API key; null for the company.'
  }),
  used: Type.Integer({ minimum: 0, description: 'What is used in this month.' })
}, { title: 'Budget' })
export type BudgetView = Static<typeof BudgetView>

/** The most budgets of a company. */
export const maxBudgets = 200
