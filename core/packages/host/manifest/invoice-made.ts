import { midnightOf, Money } from '@dispatch/common'
import { outcomeUnknown, refused } from '@dispatch/vendor-io/outcome'
import { Type } from 'typebox'
import { type ExactLine, exactLines } from './invoice-lines.ts'
import { taxesOf } from './invoice-taxes.ts'
import type { Invoice } from './invoice.ts'

/**
 * The lines of an invoice, as {@link exactLines} makes them, for a vendor that adds them up itself, with their taxes. Refuses what it would
 * make otherwise: an amount due that is not the total (`amount_due_differs`), an amount with more decimals (`too_fine`), and a total to
 * which no rounding of the taxes comes (`total_differs`).
 */
export function countedLines (invoice: Invoice, { vendor, ...decimals }: { vendor: string, quantity: number, price: number }): ExactLine[] {
  if (!invoice.due.eq(invoice.total)) {
    throw refused('amount_due_differs', `${vendor} has no field for a prepaid amount or a rounding.`, '/data/amountDue')
  }
  const lines = exactLines(invoice, decimals)
  const fine = lines.find(({ unitPrice }) => unitPrice.decimalPlaces() > decimals.price)
  if (fine !== undefined) {
    throw refused('too_fine', `${vendor} keeps ${decimals.price} decimals of an amount, and this is ${fine.unitPrice.toFixed()}.`,
      '/data/lines')
  }
  if (taxesOf(lines.map(({ quantity, unitPrice, taxRate }) => ({ net: quantity.mul(unitPrice), taxRate })), invoice) === undefined) {
    throw refused('total_differs', `The lines with their taxes do not come to the total of ${invoice.total.toFixed()}.`, '/data/total')
  }
  return lines
}

/** Members of a good answer: one that has an error in it although its status is 200 has made nothing, and does not fit. */
export const withoutErrors = { error: Type.Optional(Type.Null()), errors: Type.Optional(Type.Null()) }

/**
 * Refuses a draft that the vendor has made otherwise than the data say (`made_otherwise`): with another total, or under another number,
 * as far as it tells them. What is issued otherwise needs a person.
 */
export function requireAsRequested (
  made: { total?: string | number | undefined, number?: string | null | undefined, isDraft: boolean },
  { total, number = '' }: Pick<Invoice, 'total' | 'number'>,
  vendor: string
): void {
  const difference = made.total !== undefined && !total.eq(new Money(made.total))
    ? `The total at ${vendor} is ${made.total}, and that of the data is ${total.toFixed()}`
    : typeof made.number === 'string' && made.number !== number
    ? `The invoice has the number ${made.number} at ${vendor}, and ${number} in the data`
    : undefined
  if (difference === undefined) return
  throw made.isDraft ? refused('made_otherwise', `${difference}.`) : outcomeUnknown(`${difference}: it is issued.`)
}

/** The code of a vendor's for a rate in percent, of those in the settings (`TaxCodes`). Refuses a rate without one (`unknown_tax_rate`). */
export function taxCodeOf (codes: readonly { percent: number, code: string }[], { taxRate }: Pick<ExactLine, 'taxRate'>): string {
  const known = codes.find(({ percent }) => taxRate.eq(percent))
  if (known === undefined) {
    throw refused('unknown_tax_rate', `The settings have no code for a tax of ${taxRate.toFixed()} %.`, '/data/taxRate')
  }
  return known.code
}

/** The days from the day of an invoice to the one when it is due, both YYYY-MM-DD, for a vendor that counts them. */
export function daysBetween (day: string, due: string): number {
  return Math.round((midnightOf(due).getTime() - midnightOf(day).getTime()) / 86_400_000)
}

/** The texts that say something, each once, in one text for a vendor with a single place for them. Undefined without any. */
export function joined (separator: string, ...texts: readonly (string | undefined)[]): string | undefined {
  const said = [...new Set(texts)].filter((text) => text !== undefined && text !== '')
  return said.length === 0 ? undefined : said.join(separator)
}
