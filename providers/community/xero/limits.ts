import { type Carried, type Limit, Type } from '@dispatch/core/provider'
import { currencies } from './invoice.ts'

/** A value of the data that may be a number. The length is checked only for texts. */
const atMost = (maxLength: number): Limit['fits'] => Type.Unsafe({ maxLength })

/** Xero's limits for each field: https://developer.xero.com/documentation/api/accounting/invoices, /contacts. */
export const limits: readonly Limit[] = [
  { at: '/data/number', fits: atMost(255) },
  { at: '/data/currency', fits: Type.Enum(currencies, { description: 'a currency of Xero\'s' }), because: 'Xero has no such currency.' },
  {
    at: '/invoicing/customerId',
    fits: Type.String({ pattern: '^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$', description: 'the ContactID of a contact' }),
    because: 'It is the ContactID of a contact, a UUID.'
  },
  { at: '/data/customer/name', fits: atMost(255) },
  { at: '/data/customer/email', fits: atMost(255) },
  { at: '/data/customer/vatId', fits: atMost(50) },
  { at: '/data/customer/contact', fits: atMost(255) },
  { at: '/data/customer/address', fits: atMost(500) },
  { at: '/data/customer/addressLine2', fits: atMost(500) },
  { at: '/data/customer/addressLine3', fits: atMost(500) },
  { at: '/data/customer/city', fits: atMost(255) },
  { at: '/data/customer/region', fits: atMost(255) },
  { at: '/data/customer/postalCode', fits: atMost(50) }
]

const data = (...names: string[]): string[] => names.map((name) => `/data/${name}`)

/** What of the data stands on an invoice of Xero's. The sender is the organisation, and the sums are Xero's, which are compared. */
export const carries: readonly Carried[] = [
  {
    at: data('number', 'currency', 'date', 'dueDate', 'reference', 'orderReference', 'buyerReference', 'notes', 'paymentTerms',
      'conditions',
      ...['name', 'description', 'quantity', 'unitPrice', 'priceQuantity', 'taxRate', 'allowances', 'charges'].map((name) =>
        `lines/*/${name}`
      ), 'allowances', 'charges', 'taxRate', 'pricesIncludeTax', 'total', 'prepaidAmount', 'roundingAmount', 'amountDue')
  },
  {
    at: data(
      ...['name', 'email', 'contact', 'address', 'addressLine2', 'addressLine3', 'city', 'postalCode', 'region', 'country', 'vatId'].map(
        (name) => `customer/${name}`
      )
    ),
    when: { '/invoicing/customerId': false }
  },
  // A contact of Xero's has its own.
  { at: data('customer'), when: { '/invoicing/customerId': Type.String() }, made: true },
  { at: data('seller', 'logo', 'subtotal', 'taxAmount', 'taxes', 'lines/*/total'), made: true }
]
