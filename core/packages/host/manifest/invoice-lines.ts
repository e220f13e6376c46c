import { Money } from '@dispatch/common'
import type { Invoice, InvoiceLine } from './invoice.ts'

/** A line as a vendor counts it: `quantity` × `unitPrice` is the amount, without tax. */
export type ExactLine = Pick<InvoiceLine, 'description' | 'quantity' | 'unitPrice' | 'taxRate'>

const one = new Money(1)

/**
 * The lines of an invoice for a vendor that multiplies, and after them the allowances and charges on the whole, an allowance with a
 * negative price. A line that does not come to `quantity` × `unitPrice`, or has more decimals than the vendor keeps, is one of its total.
 */
export function exactLines ({ lines, adjustments }: Invoice, decimals: { quantity: number, price: number }): ExactLine[] {
  const isExact = ({ isPlain, quantity, unitPrice }: InvoiceLine): boolean =>
    isPlain && quantity.decimalPlaces() <= decimals.quantity && unitPrice.decimalPlaces() <= decimals.price
  return [
    ...lines.map((line) => isExact(line) ? line : { ...line, quantity: one, unitPrice: line.total }),
    ...adjustments.map(({ reason: description, amount: unitPrice, taxRate }) => ({ description, quantity: one, unitPrice, taxRate }))
  ]
}
