import { type Decimal, type JsonObject, Money } from '@dispatch/common'
import { amountDueOf, type EInvoiceFormat, type Reading, type SellerCode, sellerCodes, sellerStatus, statusCodes,
  writeStatus } from '@dispatch/einvoice'
import type { SaidLater, Sayings } from '../service.ts'

/** The states of an invoice after which its seller reports nothing more. */
const ended: ReadonlySet<string | null> = new Set(['rejected', 'void', 'uncollectible'])

/** What a seller says of an e-invoice to the French platforms. */
export function sayingsOf<Fields> (
  formatOf: (fields: Fields) => EInvoiceFormat | undefined,
  reported: (fields: Fields) => JsonObject
): Sayings<
  Fields
> {
  return {
    names: Object.fromEntries(sellerCodes.map((code) => [code, statusCodes[code].name])),

    codes (fields, delivery) {
      if (formatOf(fields) === undefined || ended.has(delivery)) return []
      // What was missing is there: only of an invoice whose customer waits for it.
      return sellerCodes.filter((code) => code !== '209' || delivery === 'suspended')
    },

    becomes (fields, data, said) {
      const payments = said.filter(({ code }) => code === '212')
      // Without amounts the whole invoice is meant.
      if (payments.some(({ amounts }) => amounts === undefined)) return 'paid'
      const come = sumOf(payments)
      if (come.isZero()) return undefined
      const due = data === undefined ? undefined : new Money(amountDueOf({ ...reported(fields), ...data }, readingOf(formatOf(fields))))
      // What is due may be negative, as of a correction. Where it is not known any more, no sum is known to cover it.
      const covers = due !== undefined && (due.isNegative() ? come.lte(due) : come.gte(due))
      if (covers) return 'paid'
      return due === undefined || come.isNegative() === due.isNegative() ? 'partly_paid' : undefined
    },

    of (fields, data, { code, ...saying }, { id, issued }) {
      const { status, problems } = sellerStatus({ ...reported(fields), ...data }, { ...saying, code: code as SellerCode }, {
        id,
        issued,
        reading: readingOf(formatOf(fields))
      })
      return problems.length > 0 ? { problems } : { problems, said: { status: { ...status }, message: writeStatus(status) } }
    }
  }
}

function readingOf (format: EInvoiceFormat = 'FACTUR_X'): Reading {
  return { format, currency: undefined, rules: 'FRANCE' }
}

function sumOf (payments: readonly SaidLater[]): Decimal {
  return payments.flatMap(({ amounts = [] }) => amounts).reduce<Decimal>((sum, { amount }) => sum.add(amount), new Money(0))
}
