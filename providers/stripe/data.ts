import { minorUnits, refused, type Invoice } from '@dispatch/core/provider'
import type { Call } from './settings.ts'

/** The texts that there are, one below the other. */
export function joined (...texts: readonly (string | undefined)[]): string | undefined {
  return texts.filter((one) => one !== undefined).join('\n') || undefined
}

/** A day or a time of the data in Unix time, some seconds later. */
export function seconds (date: string | undefined, later = 0): number | undefined {
  return date === undefined ? undefined : Math.floor(Date.parse(date) / 1000) + later
}

/** Decimals of currencies that Stripe counts otherwise than ISO 4217: https://stripe.com/docs/currencies. */
const decimals = { ISK: 2, MGA: 0, UGX: 2 }

/** The total of the data, in minor units. */
export function totalOf ({ total, currency }: Invoice): number {
  return minorUnits(total, currency, decimals).toNumber()
}

type Line = { description: string, quantity: string, unit_amount_decimal: string, tax_rates: string[] }

/** The lines as Stripe takes them. One whose quantity has decimals becomes one of its total, and its description says what of. */
export function linesOf ({ lines, currency }: Invoice, { settings: { taxRates = [] } }: Call): Line[] {
  return lines.map(({ description, quantity, unitPrice, taxRate, total }) => {
    const known = taxRates.find(({ percent }) => taxRate.eq(percent))
    if (known === undefined && !taxRate.isZero()) throw refused('unknown_tax_rate', `The settings have no tax rate of ${taxRate.toFixed()} %.`)
    const isCounted = quantity.isInteger() && !quantity.isNegative()
    return {
      description: isCounted ? description : `${description} (${quantity.toFixed()} × ${unitPrice.toFixed()})`,
      quantity: isCounted ? quantity.toFixed() : '1',
      unit_amount_decimal: minorUnits(isCounted ? unitPrice : total, currency, decimals).toFixed(),
      tax_rates: known === undefined ? [] : [known.id]
    }
  })
}
