import { type Ignored, type Limit, Type } from '@dispatch/core/provider'

const invoices = { '/invoicing/documentType': Type.Literal('INVOICE') }
const quotes = { '/invoicing/documentType': Type.Literal('QUOTE') }
const others = { '/invoicing/documentType': Type.Enum(['QUOTE', 'CREDIT']) }
const noPage = 'Stripe has a page to pay on for invoices alone.'

/** A value of the data that may be a number. The length is checked only for texts. */
const atMost = (maxLength: number): Limit['fits'] => Type.Unsafe({ maxLength })

/** Stripe's limits for each field: https://stripe.com/docs/api/invoices/create, /quotes/create, /customers/create. */
export const limits: readonly Limit[] = [
  { at: '/data/number', when: invoices, fits: atMost(30), because: 'Stripe prints the number as a custom field.' },
  { at: '/data/customer/vatId', when: invoices, fits: atMost(30), because: 'Stripe prints the VAT ID as a custom field.' },
  { at: '/data/orderReference', when: invoices, fits: atMost(30), because: 'Stripe prints the reference of the order as a custom field.' },
  { at: '/data/reference', when: invoices, fits: atMost(30), because: 'Stripe prints the reference as a custom field.' },
  { at: '/data/number', when: quotes, fits: atMost(50), because: 'Stripe prints the number as the header of the quote.' },
  { at: '/data/customer/name', fits: atMost(256) },
  { at: '/data/customer/email', fits: atMost(512) },
  { at: '/data/lines', when: invoices, fits: Type.Array(Type.Unknown(), { maxItems: 250 }) },
  { at: '/settings/includePaymentCollectionLink', when: others, fits: Type.Literal(false), because: noPage },
  { at: '/settings/paymentCollectionLabel', when: others, fits: false, because: noPage }
]

const credits = { '/invoicing/documentType': Type.Literal('CREDIT') }
const notAnId = Type.Unsafe<string>({ type: 'string', not: { pattern: '^in_' } })

/** What Stripe does nothing with. */
export const ignores: readonly Ignored[] = [
  {
    at: ['/invoicing/reference'],
    when: { '/invoicing/documentType': Type.Enum(['INVOICE', 'QUOTE']) },
    because: 'Stripe prints the "reference" of the data.'
  },
  {
    at: ['/invoicing/dueDate', '/invoicing/paymentTerms', '/invoicing/customerId'],
    when: credits,
    because: 'A credit note has those of its invoice.'
  },
  {
    at: ['/invoicing/reference'],
    when: { ...credits, '/data/invoiceNumber': Type.String(), '/invoicing/reference': notAnId },
    because: 'The credited invoice is the "invoiceNumber" of the data.'
  }
]
