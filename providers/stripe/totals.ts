import { type Invoice, minorUnits, Money, outcomeUnknown, refused, taxesOf } from '@dispatch/core/provider'
import type { Paper } from './api.ts'
import { type Amount, decimals, type Item, minor, one, sumOf, zero } from './data.ts'

/** How many of Stripe's minor units are one of ISO 4217: Stripe counts some currencies in hundredths that have none. */
export function unitOf ({ currency }: Invoice): number {
  return Math.max(1, minorUnits(one, currency, decimals).div(minorUnits(one, currency)).toNumber())
}

/** Of a currency with three decimals Stripe takes no single thousandth: https://stripe.com/docs/currencies#three-decimal. */
function stepOf (invoice: Invoice): number {
  return minor(one, invoice).gte(1000) ? 10 : 1
}

/**
 * Refuses items whose sum cannot be the total of the data, and amounts finer than Stripe's. Stripe rounds the tax of each line or of the
 * whole, depending on the account.
 */
export function checkTotal (items: readonly Item[], invoice: Invoice): void {
  const { total, currency = '' } = invoice
  const step = stepOf(invoice)
  const whole = (amount: Amount): boolean => minor(amount, invoice).mod(step).isZero()
  const fine = step > 1 ? items.find((item) => !sumOf(item).mod(step).isZero())?.at : undefined
  if (!whole(total) || fine !== undefined) {
    const smallest = new Money(step).div(minor(one, invoice)).toFixed()
    throw refused(step > 1 ? 'too_fine' : 'total_differs',
      `Stripe takes amounts of ${currency} in steps of ${smallest}: round them before.`, fine ?? '/data/total')
  }
  const unit = minor(one, invoice)
  const lines = items.map((item) => ({ net: sumOf(item).div(unit), taxRate: item.rate }))
  if (taxesOf(lines, invoice) !== undefined) return
  throw refused('total_differs',
    `The lines, allowances and charges with their taxes come to ${madeOf(items, invoice).toFixed()}, and the total is ${total.toFixed()}.`,
    '/data/total')
}

/** What the items come to with their taxes, before anything is rounded. */
function madeOf (items: readonly Item[], invoice: Invoice): Amount {
  return items.reduce((sum, item) => sum.add(sumOf(item).mul(item.rate.div(100).add(1))), zero).div(minor(one, invoice))
}

/**
 * Refuses what would need a line for a rounding, which quotes and credit notes do not have. Stripe counts in hundredths of the currency,
 * and rounds no tax to whole ones.
 */
export function checkUnrounded (items: readonly Item[], invoice: Invoice): void {
  const { total, currency = '' } = invoice
  if (unitOf(invoice) === 1 || minor(madeOf(items, invoice).sub(total), invoice).abs().lt(1)) return
  throw refused('cannot_round', `Stripe counts ${currency} in hundredths, and the taxes come to a part of one: ` +
    `${madeOf(items, invoice).toFixed()}. Change the prices so that every tax is whole; only an invoice can have a line that rounds.`,
    '/data/total')
}

/** The line that rounds what Stripe has made to the amount of the data. */
export function roundingOf (difference: number, { total, currency = '' }: Invoice): Item {
  return {
    description: `Rounding (${total.toFixed()} ${currency})`,
    quantity: one,
    price: new Money(difference),
    rate: zero,
    at: '/data/total'
  }
}

/** Compares what Stripe comes to with the amount due. */
export function checkSum (total: number | undefined, { due }: { due: number }): void {
  if (total === due) return
  throw refused('total_differs',
    `Stripe makes ${total ?? 'no'} minor units of the lines and their taxes, and the data says ${due}: nothing was issued.`)
}

/** What is issued cannot be taken back: a person looks at one whose total is not that of the data. */
export function checkIssued ({ total, amount_total: whole = total }: Pick<Paper, 'total' | 'amount_total'>, invoice: Invoice): void {
  const due = minor(invoice.due, invoice).toNumber()
  if (whole === undefined || whole === due) return
  throw outcomeUnknown(`Stripe has issued it over ${whole} minor units, and the data says ${due}: look at it there.`)
}
