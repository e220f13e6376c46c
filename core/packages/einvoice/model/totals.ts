import { type Decimal, minorDigits, Money, roundedTo } from '@dispatch/common'
import type { AllowanceCharge, EInvoiceModel, StatedTotals, Tax, TaxGroup } from './model.ts'
import { isCounted } from './sub-lines.ts'

/** The totals of the invoice (BG-22), with at most two decimals. */
export type Totals = Record<'lines' | 'allowances' | 'charges' | 'base' | 'tax' | 'total' | 'due', Decimal> & { taxes: readonly TaxGroup[] }

/** BR-CO-10 to BR-CO-17: each sum adds rounded amounts, and VAT is rounded once for each category and rate. */
export function totalsOf (invoice: EInvoiceModel): Totals {
  const { adjustments, prepaid = zero, rounding = zero, stated } = invoice
  if (stated?.taxes.length === 0) return leastTotals(stated)
  const taxes = stated?.taxes ?? taxGroups(invoice)
  const lines = stated?.lines ?? sum(invoice.lines.filter(isCounted).map(({ net }) => net))
  const [allowances, charges] = [total(adjustments, 'allowance'), total(adjustments, 'charge')]
  const base = lines.sub(allowances).add(charges)
  const tax = sum(taxes.map(({ amount }) => amount))
  const withTax = base.add(tax)
  return { lines, allowances, charges, base, taxes, tax, total: withTax, due: withTax.sub(prepaid).add(rounding) }
}

/** Those of the smallest profile, which has neither lines nor rates. */
function leastTotals ({ tax, total, due }: StatedTotals): Totals {
  const base = total.sub(tax)
  return { lines: base, allowances: zero, charges: zero, base, taxes: [], tax, total, due }
}

const zero = new Money(0)

function sum (amounts: readonly Decimal[]): Decimal {
  return amounts.reduce((so, amount) => so.add(amount), zero)
}

function total (adjustments: readonly AllowanceCharge[], kind: AllowanceCharge['kind']): Decimal {
  return sum(adjustments.filter((adjustment) => adjustment.kind === kind).map(({ amount = zero }) => amount))
}

/** Categories that have one group each, whatever their rate. */
const single = new Set(['Z', 'E', 'AE', 'K', 'G', 'O'])

/** Whether all of a category is one group. */
export function isOneGroup (category: string): boolean {
  return single.has(category)
}

function taxGroups ({ lines, adjustments, exemptions, currency }: EInvoiceModel): TaxGroup[] {
  const parts = [
    ...lines.filter(isCounted).map(({ tax, net }) => ({ tax, net })),
    ...adjustments.map(({ tax, kind, amount = zero }) => ({ tax, net: kind === 'charge' ? amount : amount.neg() }))
  ]
  const groups = Map.groupBy(parts,
    ({ tax: { category, rate } }) => isOneGroup(category) ? category : `${category} ${rate?.toFixed() ?? ''}`)
  return [...groups.values()].map((members) => {
    const [{ tax } = { tax: { category: '', rate: undefined } }] = members
    const base = sum(members.map(({ net }) => net))
    return { ...tax, base, amount: taxOn(base, tax, currency), exemption: exemptions[tax.category] }
  })
}

function taxOn (base: Decimal, { rate = zero }: Tax, currency: string): Decimal {
  return roundedTo(base.mul(rate).div(100), amountDigits(currency))
}

/** The decimals of the amounts of an e-invoice: those of its currency, such as none for the yen, and at most two (EN 16931). */
export function amountDigits (currency: string): number {
  return Math.min(2, minorDigits(currency))
}
