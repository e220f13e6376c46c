import { type Adjustment, type Invoice, type InvoiceLine, minorUnits, Money, refused } from '@dispatch/core/provider'
import type { Call } from './settings.ts'

type Amount = Invoice['total']

/** The texts that there are, one below the other. */
export function joined (...texts: readonly (string | undefined)[]): string | undefined {
  return texts.filter((one) => one !== undefined).join('\n') || undefined
}

/** Decimals of currencies that Stripe counts otherwise than ISO 4217: https://stripe.com/docs/currencies. */
const decimals = { ISK: 2, MGA: 0, UGX: 2 }

/** An amount of the data in minor units; a number of less than one has decimals. */
export function minor (amount: Amount, { currency }: Invoice): Amount {
  return minorUnits(amount, currency, decimals)
}

/** A line as Stripe adds it up, before it is written: `price` of one in minor units, `rate` in percent. */
export type Item = { description: string, quantity: Amount, price: Amount, rate: Amount, at: string }

const one = new Money(1)
const zero = new Money(0)

/** The lines, and after them the allowances and charges on the whole, each with its own rate. */
export function itemsOf (invoice: Invoice): Item[] {
  return [
    ...invoice.lines.map((line, index) => itemOf(line, `/data/lines/${index}`, invoice)),
    ...invoice.adjustments.map((adjustment) => adjustmentOf(adjustment, invoice))
  ]
}

/** A line whose quantity has decimals, or that has allowances or charges, becomes one of its total, and its description says what of. */
function itemOf ({ description, quantity, unitPrice, taxRate: rate, total, isPlain }: InvoiceLine, at: string, invoice: Invoice): Item {
  if (isPlain && quantity.isInteger() && !quantity.isNegative()) {
    return { description, quantity, price: minor(unitPrice, invoice), rate, at }
  }
  const made = `${quantity.toFixed()} × ${unitPrice.toFixed()}${isPlain ? '' : ', with its allowances and charges'}`
  return { description: `${description} (${made})`, quantity: one, price: minor(total, invoice), rate, at }
}

function adjustmentOf ({ reason, amount, taxRate: rate }: Adjustment, invoice: Invoice): Item {
  return {
    description: reason,
    quantity: one,
    price: minor(amount, invoice),
    rate,
    at: amount.isNegative() ? '/data/allowances' : '/data/charges'
  }
}

/**
 * What is taken off the total because it has been paid already, and what rounds it: no tax is due on either. The total stands
 * beside, because Stripe's is what is due.
 */
export function settledOf (invoice: Invoice, { prepaidText = 'Already paid' }: { prepaidText?: string | undefined }): Item[] {
  const { prepaid, rounding, total, currency = '' } = invoice
  const whole = `(${total.toFixed(digitsOf(invoice))} ${currency})`
  const items = [
    { description: `${prepaidText} ${whole}`, price: minor(prepaid.neg(), invoice), at: '/data/prepaidAmount' },
    { description: `Rounding ${whole}`, price: minor(rounding, invoice), at: '/data/roundingAmount' }
  ]
  return items.filter(({ price }) => !price.isZero()).map((item) => ({ ...item, quantity: one, rate: zero }))
}

/** How many decimals the currency is written with. */
const digitsOf = (invoice: Invoice): number => minor(one, invoice).toFixed().length - 1

const sumOf = ({ quantity, price }: Item): Amount => quantity.mul(price)

/**
 * The same items without a negative one, for quotes and credit notes, which take none: it is taken off the largest of its
 * rate, whose description says so. Throws a refusal where none is large enough.
 */
export function withoutNegatives (items: readonly Item[], invoice: Invoice): Item[] {
  const whole = [...items]
  for (const item of items.filter((item) => sumOf(item).isNegative())) {
    whole.splice(whole.indexOf(item), 1)
    const [largest] = whole.filter(({ rate }) => rate.eq(item.rate)).sort((left, right) => sumOf(right).cmp(sumOf(left)))
    const price = largest === undefined ? undefined : sumOf(largest).add(sumOf(item))
    if (largest === undefined || price === undefined || price.isNegative()) {
      const message = `Stripe takes no negative amount in a quote or a credit note, and no line of ${item.rate.toFixed()} % ` +
        `is large enough to take "${item.description}" off it.`
      throw refused('no_line_to_reduce', message, item.at)
    }
    const shown = (amount: Amount): string => amount.div(minor(one, invoice)).toFixed(digitsOf(invoice))
    const units = largest.quantity.eq(one) ? '' : `${largest.quantity.toFixed()} × ${shown(largest.price)}, `
    const description = `${largest.description} (${units}${item.description}: ${shown(sumOf(item))})`
    whole[whole.indexOf(largest)] = { ...largest, description, quantity: one, price }
  }
  return whole
}

/**
 * Throws a refusal where the items cannot come to the total of the data. Stripe rounds the tax of each line or that of the
 * whole, as the account is set: they may be apart by a minor unit for each line.
 */
export function checkTotal (items: readonly Item[], invoice: Invoice): void {
  const total = minor(invoice.total, invoice)
  const made = items.reduce((sum, item) => sum.add(sumOf(item).mul(item.rate.div(100).add(1))), zero)
  if (total.isInteger() && made.sub(total).abs().lte(Math.max(1, items.length))) return
  const sum = made.div(minor(one, invoice)).toFixed()
  throw refused('total_differs',
    `The lines, allowances and charges with their taxes come to ${sum}, and the total is ${invoice.total.toFixed()}.`, '/data/total')
}

/** A line as it is sent. */
export type Sent = { description: string, quantity: string, unit_amount_decimal: string, tax_rates: string[] }

/** The items as Stripe takes them, with the tax rates of its account. Throws a refusal for a rate that the settings do not have. */
export function sentOf (items: readonly Item[], { taxRates = [] }: Partial<Call['settings']>): Sent[] {
  return items.map(({ description, quantity, price, rate, at }) => {
    const known = taxRates.find(({ percent }) => rate.eq(percent))
    if (known === undefined && !rate.isZero()) {
      throw refused('unknown_tax_rate', `The settings have no tax rate of ${rate.toFixed()} %.`, at)
    }
    return {
      description,
      quantity: quantity.toFixed(),
      unit_amount_decimal: price.toFixed(),
      tax_rates: known === undefined ? [] : [known.id]
    }
  })
}
