import { AllowedSenders, type Context, Secret, type Static, Type } from '@dispatch/core/provider'

export const Settings = Type.Object({
  allowedSenders: Type.Optional(AllowedSenders()),
  slowSeconds: Type.Optional(Type.Number({
    title: 'Seconds of a slow answer',
    description: 'How long a request with the magic word "slow" takes; 5 unless set.',
    minimum: 0,
    maximum: 30
  })),
  webhookUser: Type.Optional(Type.String({
    title: 'Webhook user',
    description: 'The user name with which events of letters and e-mails come; unset, that of the server\'s configuration.',
    minLength: 1,
    pattern: '^[^:]+$'
  })),
  webhookPassword: Type.Optional(
    Secret({ title: 'Webhook password', description: 'The password with which events of letters and e-mails come.' })
  )
})

/** This version of the API added the collection of payments. */
const since = { 'x-since': '1.0.1' }

export const RequestSettings = Type.Object({
  includePaymentCollectionLink: Type.Optional(Type.Boolean({
    ...since,
    title: 'Payment link',
    description: 'Adds the page where the document can be paid: "paymentUrl" in the answer.'
  })),
  paymentCollectionBeneficiaryName: Type.Optional(Type.String({
    ...since,
    title: 'Beneficiary',
    description: 'Whom the payment page names as the receiver of the money.',
    minLength: 1,
    maxLength: 70
  })),
  paymentCollectionLabel: Type.Optional(Type.String({
    ...since,
    title: 'Label',
    description: 'What the payment page says the payment is for.',
    minLength: 1,
    maxLength: 140
  }))
})

export type Call = Context<Static<typeof Settings>, Static<typeof RequestSettings>>
