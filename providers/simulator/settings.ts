import { Type, type Context, type Static } from '@dispatch/core/provider'

export const Settings = Type.Object({
  allowedSenders: Type.Optional(Type.Array(Type.String({ minLength: 3, maxLength: 254 }), {
    title: 'Allowed senders',
    description: 'Addresses, or domains such as @example.com, that e-mails may come from.',
    maxItems: 100
  })),
  slowSeconds: Type.Optional(Type.Number({
    title: 'Seconds of a slow answer',
    description: 'How long a request with the magic word "slow" takes; 5 unless set.',
    minimum: 0,
    maximum: 30
  }))
})

export const RequestSettings = Type.Object({
  includePaymentCollectionLink: Type.Optional(Type.Boolean({
    title: 'Payment link',
    description: 'Adds the page where the document can be paid: "paymentUrl" in the answer.'
  })),
  paymentCollectionBeneficiaryName: Type.Optional(Type.String({
    title: 'Beneficiary',
    description: 'Whom the payment page names as the receiver of the money.',
    minLength: 1,
    maxLength: 70
  })),
  paymentCollectionLabel: Type.Optional(Type.String({
    title: 'Label',
    description: 'What the payment page says the payment is for.',
    minLength: 1,
    maxLength: 140
  }))
})

export type Call = Context<Static<typeof Settings>, Static<typeof RequestSettings>>
