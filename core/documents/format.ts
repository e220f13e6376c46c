import { LRUCache } from 'lru-cache'
import type { Cell, Decimal, Run } from './document.ts'

export type DateStyle = 'short' | 'medium' | 'long' | 'full'

// Making an Intl formatter costs far more than using it.
const numbers = new LRUCache<string, Intl.NumberFormat>({ max: 500 })
const countries = new LRUCache<string, Intl.DisplayNames>({ max: 50 })
const dates = new LRUCache<string, Intl.DateTimeFormat>({ max: 100 })

/** The text of a cell for formats without typed values, in the words of the locale; numbers are rounded half away from zero. */
export function formatCell (cell: Cell, locale: string): Run[] {
  switch (cell.type) {
    case 'empty': return []
    case 'text': return cell.runs
    case 'money': return [{ text: formatMoney(cell.value, cell.currency, locale, cell.digits) }]
    case 'number': return [{ text: formatNumber(cell.value, locale, cell.digits) }]
    case 'percent': return [{ text: formatPercent(cell.value, locale, cell.digits) }]
    case 'date': return [{ text: formatDate(cell.value, locale) }]
  }
}

/** An amount with its currency: at least the decimals of the currency, at most `digits`. */
export function formatMoney (value: Decimal, currency: string, locale: string, digits?: number): string {
  return numberFormat(locale, { style: 'currency', currency, ...(digits === undefined ? {} : atMost(digits, currencyDigits(currency))) }).format(exact(value))
}

/** A number with at most `digits` decimals (3 unless given). */
export function formatNumber (value: Decimal, locale: string, digits = 3): string {
  return numberFormat(locale, { maximumFractionDigits: digits }).format(exact(value))
}

/** A percentage given as percent: 20 is 20 %. */
export function formatPercent (value: Decimal, locale: string, digits = 3): string {
  return numberFormat(locale, { style: 'unit', unit: 'percent', maximumFractionDigits: digits }).format(exact(value))
}

/** A day (YYYY-MM-DD), or the UTC day of a time (RFC 3339). */
export function formatDate (value: string, locale: string, style: DateStyle = 'medium'): string {
  const key = `${locale} ${style}`
  const format = dates.get(key) ?? new Intl.DateTimeFormat(locale, { dateStyle: style, timeZone: 'UTC' })
  dates.set(key, format)
  return format.format(new Date(value))
}

/** The name of a country given as ISO 3166-1 alpha-2; any other text is itself. */
export function formatCountry (value: string, locale: string): string {
  if (!/^[A-Z]{2}$/.test(value)) return value
  const names = countries.get(locale) ?? new Intl.DisplayNames(locale, { type: 'region' })
  countries.set(locale, names)
  return names.of(value) ?? value
}

/** Decimals that the currency's minor unit has: 2 for EUR, 0 for JPY. */
function currencyDigits (currency: string): number {
  return numberFormat('en', { style: 'currency', currency }).resolvedOptions().maximumFractionDigits ?? 2
}

function atMost (digits: number, least: number): Intl.NumberFormatOptions {
  return { minimumFractionDigits: Math.min(digits, least), maximumFractionDigits: digits }
}

function numberFormat (locale: string, options: Intl.NumberFormatOptions): Intl.NumberFormat {
  const key = `${locale} ${JSON.stringify(options)}`
  const format = numbers.get(key) ?? new Intl.NumberFormat(locale, options)
  numbers.set(key, format)
  return format
}

/** Intl formats a decimal string digit by digit, whatever its length; a number would have passed through a double. */
function exact (value: Decimal): Intl.StringNumericLiteral {
  return String(value) as Intl.StringNumericLiteral
}
