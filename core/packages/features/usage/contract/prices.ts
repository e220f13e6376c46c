import { ProviderCode } from '@dispatch/contract'
import { type Static, Type } from 'typebox'

/** What has a price. */
export const priceUnits = ['credit', 'dispatch', 'part', 'page'] as const
export type PriceUnit = typeof priceUnits[number]

/** The most prices of a company. */
export const maxPrices = 500

export const Price = Type.Object({
  unit: Type.Enum(priceUnits, {
    description:
      '`credit`: each that is charged. Else what providers have accepted: `dispatch`, each; `part`, of a text as networks count ' +
      'them; `page`, of a document. What has several prices costs their sum.'
  }),
  service: Type.Optional(Type.String({ maxLength: 50, description: 'Of what it is; a credit has none.' })),
  providerName: Type.Optional(ProviderCode),
  amount: Type.String({
    pattern: '^\\d{1,9}(\\.\\d{1,6})?$',
    description: 'In the currency.',
    examples: ['0.0749']
  })
}, {
  title: 'UsagePrice',
  additionalProperties: false,
  description: 'With a providerName, of what went through it: it goes before the price of its service.'
})
export type Price = Static<typeof Price>

const examples = [{
  currency: 'EUR',
  prices: [{ unit: 'credit', amount: '0.10' }]
}]

export const PricesBody = Type.Object({
  currency: Type.String({ pattern: '^[A-Z]{3}$', description: 'ISO 4217.', examples: ['EUR'] }),
  prices: Type.Array(Price, { maxItems: maxPrices, description: 'All of them: they take the place of those before.' })
}, { title: 'NewUsagePrices', additionalProperties: false, examples })
export type PricesBody = Static<typeof PricesBody>

export const PricesView = Type.Object({
  currency: Type.Union([Type.String({ description: 'ISO 4217.' }), Type.Null()], { description: 'Null before prices are set.' }),
  prices: Type.Array(Price)
}, { title: 'UsagePrices', examples })
export type PricesView = Static<typeof PricesView>
