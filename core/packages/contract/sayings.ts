import { Uuid } from '@dispatch/common'
import { serviceNames, services } from '@dispatch/services'
import { type Static, Type } from 'typebox'
import { Timestamp } from './common.ts'

export type { SaidLater } from '@dispatch/services'

/** What may be said of a dispatch later: each code, and what it is called. */
export const sayingNames: Readonly<Record<string, string>> = Object.fromEntries(
  serviceNames.flatMap((name) => Object.entries(services[name].says?.names ?? {}))
)

const Decimal = Type.String({
  pattern: '^-?[0-9]{1,12}([.][0-9]{1,2})?$',
  maxLength: 16,
  description: 'A decimal with a point.',
  examples: ['24.00']
})

const Code = Type.Enum(Object.keys(sayingNames), {
  description: `${Object.entries(sayingNames).map(([code, name]) => `${code}: ${name}`).join('. ')} (AFNOR XP Z12-012).`
})

const Amounts = Type.Array(
  Type.Object({
    rate: { ...Decimal, description: 'The rate of VAT in percent.', examples: ['20'] },
    amount: { ...Decimal, description: 'What has come in with it, VAT included, in the currency of the invoice.' }
  }, { additionalProperties: false }),
  { minItems: 1, maxItems: 20 }
)

/** What the seller of an invoice says of it. */
export const SayingBody = Type.Object({
  code: Code,
  at: Type.Optional(
    Type.String({
      pattern: '^\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d([.]\\d{1,9})?(Z|[+-]\\d\\d:\\d\\d)$',
      description: 'When it came to be: RFC 3339. Now unless given.',
      examples: ['2026-10-02T10:00:00Z']
    })
  ),
  amounts: Type.Optional({
    ...Amounts,
    description: 'Of 212: what has come in with each rate. Left out, the whole invoice. A second part of a payment names its `at`.'
  }),
  reason: Type.Optional(
    Type.String({ minLength: 1, maxLength: 500, description: 'In words, for the customer.', examples: ['Paid by card.'] })
  )
}, {
  title: 'NewInvoiceStatus',
  additionalProperties: false,
  examples: [{ code: '212', at: '2026-10-02T10:00:00Z', amounts: [{ rate: '20', amount: '24.00' }] }]
})
export type SayingBody = Static<typeof SayingBody>

/** What is known of a status that the seller has said. */
export const sayingStates = ['asked', 'said', 'refused', 'uncertain'] as const
export type SayingState = typeof sayingStates[number]

export const SayingView = Type.Object({
  statusId: Uuid,
  code: Type.String(),
  name: Type.String(),
  at: Type.String({ format: 'date-time', description: 'When it came to be.' }),
  amounts: Type.Optional(Amounts),
  reason: Type.Optional(Type.String()),
  state: Type.Enum([...sayingStates], {
    description: 'said: the platform has it. refused: it does not take it. uncertain: it may have it; saying the same once more finds out.'
  }),
  message: Type.Optional(Type.String({ description: 'Why, where it is not said.' })),
  askedAt: Timestamp
}, { title: 'InvoiceStatus' })
export type SayingView = Static<typeof SayingView>

/** What was said of an invoice, the oldest first, and what may be said of it now. */
export const SayingsView = Type.Object({
  data: Type.Array(SayingView),
  sayable: Type.Array(Type.String(), { description: 'The codes that may be said now; none where the provider cannot say any.' })
}, {
  title: 'InvoiceStatuses',
  examples: [{
    data: [{
      statusId: '01929f3c-6a1b-5c44-9f0e-2d5b8a7c1e90',
      code: '212',
      name: 'Encaissée',
      at: '2026-10-02T10:00:00.000Z',
      amounts: [{ rate: '20', amount: '24.00' }],
      state: 'said',
      askedAt: '2026-10-02T10:05:00.000Z'
    }],
    sayable: ['212']
  }]
})
export type SayingsView = Static<typeof SayingsView>
