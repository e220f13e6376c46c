import { type TSchema, Type } from 'typebox'
import type { Carried } from './carries.ts'

/** What `exactLines` and the total of an invoice say, which a vendor that multiplies gets or has compared. */
const counted = [
  ...['name', 'description', 'quantity', 'unitPrice', 'priceQuantity', 'taxRate', 'allowances', 'charges'].map((name) => `lines/*/${name}`),
  ...['allowances', 'charges', 'taxRate', 'pricesIncludeTax', 'total', 'prepaidAmount', 'roundingAmount', 'amountDue']
]

/** The sums and the sender, which the vendor's own document has of itself. */
const ofItself = ['seller', 'logo', 'subtotal', 'taxAmount', 'taxes', 'lines/*/total']

/**
 * What a vendor carries that makes its invoices from `exactLines`: the lines and the sums, `fields` of the data beside them, and
 * `customer`, fields of a customer that it is told unless `customerId` names one that it knows. `made` are further fields that its
 * document has of itself.
 */
export function carriedFields ({ fields, customer, made = [] }: {
  fields: readonly string[]
  customer: readonly string[]
  made?: readonly string[]
}): Carried[] {
  const known = (fits: TSchema | false) => ({ '/invoicing/customerId': fits })
  return [
    { at: inData([...fields, ...counted]) },
    ...customer.length > 0 ? [{ at: inData(customer.map((name) => `customer/${name}`)), when: known(false) }] : [],
    { at: inData(['customer']), when: known(Type.String()), made: true },
    { at: inData([...ofItself, ...made]), made: true }
  ]
}

function inData (names: readonly string[]): string[] {
  return names.map((name) => `/data/${name}`)
}
