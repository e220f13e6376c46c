import { minorDigits } from '@dispatch/common'
import { Decimal as Exact } from 'decimal.js'
import type { Cell, Decimal } from '../model/document.ts'
import { dateFormat } from './date-format.ts'
import { moneyFormat, numberFormat, percentFormat } from './number-format.ts'

/** A number as a sheet stores it, and its number format. */
export type Typed = { number: string, format: string }

/** The value of a cell as a number; undefined for other values, and for a number that a sheet cannot store exactly. */
export function typed (cell: Cell, locale: string): Typed | undefined {
  switch (cell.type) {
    case 'empty':
    case 'text':
      return undefined
    case 'date':
      return dated(cell.value, locale)
    case 'number':
      return numbered(exactly(cell.value), (decimals) => numberFormat(Math.min(decimals, cell.digits ?? 3)))
    case 'money':
      return numbered(exactly(cell.value),
        (decimals) => moneyFormat(locale, cell.currency, moneyDecimals(decimals, minorDigits(cell.currency), cell.digits)))
    case 'percent':
      return numbered(exactly(cell.value), (decimals) => percentFormat(locale, Math.min(decimals, cell.digits ?? 3)), -2)
  }
}

/** The decimals of {@link import('../format.ts').formatMoney}: those of the currency, or at least these and at most `digits`. */
function moneyDecimals (decimals: number, least: number, digits = least): number {
  return Math.max(Math.min(least, digits), Math.min(decimals, digits))
}

/** How many digits a number of a sheet can hold: it is a double (IEEE 754). */
const mostDigits = 15

/** `exponent`: the sheet stores the value times this power of ten. With so few digits, the nearest double has the same digits. */
function numbered (value: string, formatFor: (decimals: number) => string, exponent?: number): Typed | undefined {
  if (value.length > mostDigits && value.replace(/^-?0*\.?0*/, '').replace('.', '').length > mostDigits) return undefined
  const point = value.indexOf('.')
  return {
    number: exponent === undefined ? value : exactly(Number(`${value}e${exponent}`)),
    format: formatFor(point === -1 ? 0 : value.length - point - 1)
  }
}

/** A decimal without exponent and without trailing zeros. */
export function exactly (value: Decimal | Exact): string {
  const text = String(value)
  const fixed = text.includes('e') ? new Exact(text).toFixed() : text
  return fixed.includes('.') ? fixed.replace(/\.?0+$/, '') : fixed
}

const day = 24 * 3600 * 1000

/** The number of a day in a sheet: 1 March 1900 is 61, because sheets have a 29 February 1900 (ECMA-376-1, 18.17.4.1). */
function dated (value: string, locale: string): Typed | undefined {
  const serial = Math.floor((Date.parse(value) - Date.UTC(1899, 11, 30)) / day)
  return serial < 61 ? undefined : { number: String(serial), format: dateFormat(locale) }
}
