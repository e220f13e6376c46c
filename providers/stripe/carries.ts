import { type Carried, Type } from '@dispatch/core/provider'

const invoices = { '/invoicing/documentType': Type.Literal('INVOICE') }
const quotes = { '/invoicing/documentType': Type.Literal('QUOTE') }
const credits = { '/invoicing/documentType': Type.Literal('CREDIT') }
/** A customer at Stripe has an address and a language there. */
const ofNewCustomer = { '/invoicing/customerId': false } as const
const ofKnownCustomer = { '/invoicing/customerId': Type.String() }

const data = (...names: string[]): string[] => names.map((name) => `/data/${name}`)
const line = (...names: string[]): string[] => data(...names.map((name) => `lines/*/${name}`))

const amounts = [
  ...line('name', 'description', 'quantity', 'unitPrice', 'priceQuantity', 'taxRate', 'allowances', 'charges'),
  ...data('allowances', 'charges', 'taxRate', 'pricesIncludeTax', 'total', 'prepaidAmount', 'roundingAmount', 'amountDue')
]
const customer = data('language',
  ...['name', 'email', 'address', 'addressLine2', 'addressLine3', 'city', 'postalCode', 'region', 'country'].map((name) =>
    `customer/${name}`
  ))

/** What of the data stands on a document of Stripe's. The sender is that of the account, and the sums are Stripe's, which are compared. */
export const carries: readonly Carried[] = [
  { at: amounts },
  { at: data('number', 'notes') },
  {
    at: data('currency', 'date', 'dueDate', 'orderReference', 'reference', 'customer/vatId', 'paymentTerms', 'conditions'),
    when: invoices
  },
  { at: data('currency', 'dueDate', 'paymentTerms', 'conditions'), when: quotes },
  { at: data('date', 'invoiceNumber', 'reason'), when: credits },
  { at: customer, when: { ...invoices, ...ofNewCustomer } },
  { at: customer, when: { ...quotes, ...ofNewCustomer } },
  { at: data('customer', 'language', 'currency'), when: credits, made: true },
  { at: data('customer', 'language'), when: ofKnownCustomer, made: true },
  { at: [...data('seller', 'logo', 'subtotal', 'taxAmount', 'taxes'), ...line('total')], made: true }
]
