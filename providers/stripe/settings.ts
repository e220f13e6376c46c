import { Secret, Type, type Context, type ServiceContracts, type Static } from '@dispatch/core/provider'

const TaxRate = Type.Object({ percent: Type.Number({ exclusiveMinimum: 0, maximum: 100 }), id: Type.String({ pattern: '^txr_\\w+$' }) }, { additionalProperties: false })

export const Settings = Type.Object({
  secretKey: Secret({ title: 'Secret key', description: 'a secret or restricted key: sk_live_… or rk_live_…, for a sandbox sk_test_… or rk_test_…', pattern: '^(sk|rk)_(live|test)_\\w+$' }),
  taxRates: Type.Optional(Type.Array(TaxRate, { title: 'Tax rates', description: 'The exclusive tax rates of the account (txr_…), by their percentages.' })),
  quoteProduct: Type.Optional(Type.String({ title: 'Product of quotes', description: 'the product (prod_…) of which the lines of quotes are prices', pattern: '^prod_\\w+$' }))
})

export const RequestSettings = Type.Object({
  includePaymentCollectionLink: Type.Optional(Type.Boolean({ title: 'Payment link', description: 'Adds Stripe\'s page where the invoice can be paid: "paymentUrl" in the answer.' })),
  paymentCollectionLabel: Type.Optional(Type.String({ title: 'Label', description: 'What the payment is for: the memo of the invoice, on its page and its PDF.', minLength: 1, maxLength: 140 })),
  // Stripe has no field for it: nothing fits, so that it is refused with the reason before anything is made.
  paymentCollectionBeneficiaryName: Type.Optional(Type.String({ title: 'Beneficiary', description: 'no value: Stripe names the business of the account, which cannot be another for one invoice', pattern: '^(?!)' }))
})

export type Call = Context<Static<typeof Settings>, Static<typeof RequestSettings>>
export type Request = ServiceContracts['invoicing']['dispatch']
