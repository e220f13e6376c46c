import { type Decimal as Exact, midnightOf, minorDigits, Money, roundedTo } from '@dispatch/common'
import type { Cell, Decimal } from '../model/document.ts'
import { dateFormat } from './date-format.ts'
import { moneyFormat, numberFormat, percentFormat } from './number-format.ts'

/** A number as a sheet stores it, and its number format. */
export type Typed = { number: string, format: string }

/** The cells that may hold a number. */
export type NumberCell = Exclude<Cell, { type: 'empty' | 'text' }>

export function isNumberCell (cell: Cell): cell is NumberCell {
  return cell.type !== 'empty' && cell.type !== 'text'
}

/** The value of a cell as a number; undefined for other values, and for a number that a sheet cannot store exactly. */
export function typed (cell: Cell, locale: string): Typed | undefined {
  if (!isNumberCell(cell)) return undefined
  const stored = storedNumber(cell)
  return stored === undefined ? undefined : { number: stored.number, format: formatOf(cell, stored.decimals, locale) }
}

/** A number as a sheet stores it. `decimals` are those of the value as it is shown. */
export type StoredNumber = { number: string, decimals: number }

/** The number of a cell; undefined for one that a sheet cannot store exactly. */
export function storedNumber (cell: NumberCell): StoredNumber | undefined {
  if (cell.type === 'date') return dated(cell.value)
  const value = amountOf(cell)
  if (value.length > maxDigits && value.replace(/^-?0*\.?0*/, '').replace('.', '').length > maxDigits) return undefined
  const point = value.indexOf('.')
  // A sheet stores a percentage as its hundredth. With so few digits, the nearest double has the same digits.
  return {
    number: cell.type === 'percent' ? exactly(Number(`${value}e-2`)) : value,
    decimals: point === -1 ? 0 : value.length - point - 1
  }
}

/** The number as a decimal text: an amount has the decimals of its currency, as the other formats print it. */
function amountOf (cell: Exclude<NumberCell, { type: 'date' }>): string {
  const value = exactly(cell.value)
  if (cell.type !== 'money' || cell.digits !== undefined) return value
  const [digits, point] = [minorDigits(cell.currency), value.indexOf('.')]
  return point === -1 || value.length - point - 1 <= digits ? value : exactly(roundedTo(new Money(value), digits))
}

/** The number format of a cell whose value has so many decimals. */
export function formatOf (cell: NumberCell, decimals: number, locale: string): string {
  switch (cell.type) {
    case 'date':
      return dateFormat(locale)
    case 'number':
      return numberFormat(Math.min(decimals, cell.digits ?? 3))
    case 'money':
      return moneyFormat(locale, cell.currency, moneyDecimals(decimals, minorDigits(cell.currency), cell.digits))
    case 'percent':
      return percentFormat(locale, Math.min(decimals, cell.digits ?? 3))
  }
}

/** Whether two cells have the same format for the same number of decimals. */
export function alike (one: NumberCell, other: NumberCell): boolean {
  if (one.type === 'date' || other.type === 'date') return one.type === other.type
  if (one.type === 'money') return other.type === 'money' && one.currency === other.currency && one.digits === other.digits
  return one.type === other.type && one.digits === other.digits
}

/** The decimals of {@link import('../format.ts').formatMoney}: those of the currency, or at least these and at most `digits`. */
function moneyDecimals (decimals: number, least: number, digits = least): number {
  return Math.max(Math.min(least, digits), Math.min(decimals, digits))
}

/** How many digits a number of a sheet can hold: it is a double (IEEE 754). */
const maxDigits = 15

/** A decimal without exponent and without trailing zeros. */
export function exactly (value: Decimal | Exact): string {
  const text = String(value)
  const fixed = text.includes('e') ? new Money(text).toFixed() : text
  return fixed.endsWith('0') && fixed.includes('.') ? fixed.replace(/\.?0+$/, '') : fixed
}

const day = 24 * 3600 * 1000

/** The number of a day in a sheet: 1 March 1900 is 61, because sheets have a 29 February 1900 (ECMA-376-1, 18.17.4.1). */
function dated (value: string): StoredNumber | undefined {
  const serial = Math.floor((midnightOf(value).getTime() - Date.UTC(1899, 11, 30)) / day)
  return serial < 61 ? undefined : { number: String(serial), decimals: 0 }
}
