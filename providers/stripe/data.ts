import { type Adjustment, type Invoice, type InvoiceLine, minorUnits, Money, refused } from '@dispatch/core/provider'
import type { Call } from './settings.ts'

export type Amount = Invoice['total']

export const one = new Money(1)
export const zero = new Money(0)

/** The given texts, one below the other. */
export function joined (...texts: readonly (string | undefined)[]): string | undefined {
  return texts.filter((one) => one !== undefined).join('\n') || undefined
}

/** Decimals of currencies for which Stripe deviates from ISO 4217: https://stripe.com/docs/currencies. */
export const decimals = { ISK: 2, MGA: 0, UGX: 2 }

/** An amount of the data in minor units. Less than one minor unit becomes decimals. */
export function minor (amount: Amount, { currency }: Invoice): Amount {
  return minorUnits(amount, currency, decimals)
}

/** A line in the form in which Stripe sums it: `price` of one in minor units, `rate` in percent. */
export type Item = { description: string, quantity: Amount, price: Amount, rate: Amount, at: string }

/** The lines, and after them the allowances and charges on the whole, each with its own rate. */
export function itemsOf (invoice: Invoice): Item[] {
  return [
    ...invoice.lines.map((line, index) => itemOf(line, `/data/lines/${index}`, invoice)),
    ...invoice.adjustments.map((adjustment) => adjustmentOf(adjustment, invoice))
  ]
}

/**
 * A line whose quantity has decimals, or that has allowances or charges, becomes one line with its total. Its description tells the
 * details.
 */
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
 * The prepaid amount, which reduces the total, and the rounding amount. Neither is taxed. The total is shown too, because Stripe's total is
 * the amount due.
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

/** The number of decimals with which the currency is written. */
const digitsOf = (invoice: Invoice): number => minor(one, invoice).toFixed().length - 1

export const sumOf = ({ quantity, price }: Item): Amount => quantity.mul(price)

/**
 * The items without negative ones, which quotes and credit notes do not permit. A negative item reduces the largest item of its rate, whose
 * description says so. Refuses the document if no item is large enough.
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

const longestDescription = 5000

/** A line in Stripe's format. */
export type Sent = { description: string, quantity: string, unit_amount_decimal: string, tax_rates: string[] }

/** The items in Stripe's format, with the tax rates of the account. Refuses a rate that the settings do not have. */
export function sentOf (items: readonly Item[], { taxRates = [] }: Partial<Call['settings']>): Sent[] {
  return items.map(({ description, quantity, price, rate, at }) => {
    if (description.length > longestDescription) {
      const message = `Stripe takes at most ${longestDescription} characters of a line's description. With what is added to it, this has ` +
        `${description.length}.`
      throw refused('too_long', message, at.startsWith('/data/lines/') ? `${at}/description` : at)
    }
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
