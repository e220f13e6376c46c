import { type Context, Secret, type Static, Type } from '@dispatch/core/provider'

export const Settings = Type.Object({
  apiKey: Secret({
    title: 'API key',
    description: 'a secret key of Lob, which begins with live_, or with test_ for a sandbox',
    pattern: '^(live|test)_\\w+$'
  }),
  senderName: Type.String({
    title: 'Sender',
    examples: ['ACME'],
    description: 'Who the letter is from: the name of the return address.',
    minLength: 1,
    maxLength: 40
  }),
  senderAddress: Type.String({
    title: 'Street',
    examples: ['185 Berry St'],
    description: 'The street of the return address, which lies in the United States.',
    minLength: 1,
    maxLength: 64
  }),
  senderCity: Type.String({
    title: 'City',
    examples: ['San Francisco'],
    description: 'The city of the return address.',
    minLength: 1,
    maxLength: 200
  }),
  senderState: Type.String({ title: 'State', examples: ['CA'], description: 'two letters, such as CA', pattern: '^[A-Z]{2}$' }),
  senderZip: Type.String({
    title: 'ZIP code',
    examples: ['94107-1234'],
    description: 'five digits, or nine as 94107-1234',
    pattern: '^\\d{5}(-\\d{4})?$'
  }),
  useType: Type.Optional(Type.Union([
    Type.Literal('operational', { title: 'Operational' }),
    Type.Literal('marketing', { title: 'Marketing' })
  ], {
    title: 'Use',
    description: 'What the letters are, which Lob asks for; operational unless set.'
  })),
  addressPlacement: Type.Optional(Type.Union([
    Type.Literal('insert_blank_page', { title: 'On a page of its own' }),
    Type.Literal('top_first_page', { title: 'At the top of the first page' }),
    Type.Literal('bottom_first_page', { title: 'At the bottom of the first page' })
  ], {
    title: 'Address',
    description: 'Where Lob prints the addresses: on a page of its own before the first (unless set), or over the first page.'
  })),
  webhookSecret: Type.Optional(Secret({ title: 'Webhook secret', description: 'The secret that Lob shows for the webhook.' }))
})

export const RequestSettings = Type.Object({
  addressId: Type.Optional(Type.String({
    title: 'Address',
    description: 'An address kept at Lob (adr_…), which the letter goes to in place of the recipient\'s.',
    pattern: '^adr_[a-zA-Z0-9]+$'
  })),
  returnReceipt: Type.Optional(
    Type.Boolean({ title: 'Return receipt', description: 'A registered letter within the United States comes with a return receipt.' })
  ),
  returnEnvelope: Type.Optional(Type.Boolean({ title: 'Return envelope', description: 'An envelope for the answer lies in the letter.' })),
  perforatedPage: Type.Optional(Type.Integer({
    title: 'Perforated page',
    description: 'The page that is sent back in the return envelope; 1 unless set.',
    minimum: 1,
    maximum: 60
  }))
})

export type RequestSettings = Static<typeof RequestSettings>

export type Call = Context<Static<typeof Settings>, RequestSettings>
