import { type Context, Secret, type ServiceContracts, type Static, Type } from '@dispatch/core/provider'

const TaxRate = Type.Object({
  percent: Type.Number({ title: 'Percentage', description: 'such as 20', exclusiveMinimum: 0, maximum: 100 }),
  id: Type.String({ title: 'Tax rate', description: 'its id at Stripe (txr_…)', pattern: '^txr_\\w+$' })
}, { additionalProperties: false })

export const Settings = Type.Object({
  secretKey: Secret({
    title: 'Secret key',
    description: 'secret or restricted: sk_live_…, rk_live_…; for a sandbox sk_test_…, rk_test_…',
    pattern: '^(sk|rk)_(live|test)_\\w+$'
  }),
  webhookSecret: Type.Optional(Secret({
    title: 'Webhook secret',
    description: 'The signing secret of the endpoint (whsec_…): with it Stripe tells what becomes of invoices and quotes.',
    pattern: '^whsec_\\w+$'
  })),
  taxRates: Type.Optional(
    Type.Array(TaxRate, { title: 'Tax rates', description: 'The exclusive tax rates of the account (txr_…), by their percentages.' })
  ),
  timezone: Type.Optional(Type.String({
    title: 'Time zone',
    examples: ['Europe/Paris'],
    description: 'that of the account, by its name, such as Europe/Paris: a day ends when it ends there; UTC unless set',
    format: 'time-zone'
  })),
  prepaidText: Type.Optional(Type.String({
    title: 'Word for prepayments',
    examples: ['Already paid'],
    description: 'what the line says that takes off what has been paid already; "Already paid" unless set',
    minLength: 1,
    maxLength: 100
  })),
  quoteProduct: Type.Optional(
    Type.String({
      title: 'Product of quotes',
      examples: ['prod_Nabc123'],
      description: 'the product (prod_…) that the lines of quotes are prices of',
      pattern: '^prod_\\w+$'
    })
  )
})

/** This version of the API added the collection of payments. */
const since = { 'x-since': '1.0.1' }

export const RequestSettings = Type.Object({
  includePaymentCollectionLink: Type.Optional(
    Type.Boolean({ ...since, title: 'Payment link', description: 'adds the page where the invoice can be paid, as "paymentUrl"' })
  ),
  paymentCollectionLabel: Type.Optional(
    Type.String({ ...since, title: 'Label', description: 'what is paid for: the memo of the invoice', minLength: 1, maxLength: 140 })
  ),
  // Stripe has no field for it. No value fits, so it is refused with the reason before anything is made.
  paymentCollectionBeneficiaryName: Type.Optional(
    Type.String({ ...since, title: 'Beneficiary', description: 'none: Stripe names the business of the account', pattern: '^(?!)' })
  )
})

export type Call = Context<Static<typeof Settings>, Static<typeof RequestSettings>>
export type Request = ServiceContracts['invoicing']['dispatch']
