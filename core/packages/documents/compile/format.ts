import { midnightOf, minorDigits } from '@dispatch/common'
import type { Cell, Decimal, TextRun } from '../model/document.ts'
import { memoizeLru } from '../model/memoize.ts'

const dateStyles = ['short', 'medium', 'long', 'full'] as const
export type DateStyle = typeof dateStyles[number]

/** Whether a text is the name of a date style. */
export function isDateStyle (style: unknown): style is DateStyle {
  return dateStyles.some((known) => known === style)
}

/** The text of a cell in the words of the locale, for formats without typed values. Numbers are rounded half away from zero. */
export function formatCell (cell: Cell, locale: string): TextRun[] {
  switch (cell.type) {
    case 'empty':
      return []
    case 'text':
      return cell.runs
    case 'money':
      return [{ text: formatMoney(cell.value, cell.currency, locale, cell.digits) }]
    case 'number':
      return [{ text: formatNumber(cell.value, locale, cell.digits) }]
    case 'percent':
      return [{ text: formatPercent(cell.value, locale, cell.digits) }]
    case 'date':
      return [{ text: formatDate(cell.value, locale) }]
  }
}

/** An amount with its currency (ISO 4217). It has the decimals of the currency; with `digits`, at least these and at most `digits`. */
export function formatMoney (value: Decimal, currency: string, locale: string, digits?: number): string {
  return moneyFormat(`${locale} ${currency} ${digits ?? ''}`).format(exact(value))
}

/** A number with at most `digits` decimals (3 unless given). */
export function formatNumber (value: Decimal, locale: string, digits = 3): string {
  return numberFormat(`${locale} ${digits}`).format(exact(value))
}

/** A percentage given as percent: 20 is 20 %. */
export function formatPercent (value: Decimal, locale: string, digits = 3): string {
  return percentFormat(`${locale} ${digits}`).format(exact(value))
}

/** A day (YYYY-MM-DD). */
export function formatDate (day: string, locale: string, style: DateStyle = 'medium'): string {
  return dateFormat(`${locale} ${style}`).format(midnightOf(day))
}

/** The name of the country with an ISO 3166-1 alpha-2 code. Any other text is unchanged. */
export function formatCountry (value: string, locale: string): string {
  return /^[A-Z]{2}$/.test(value) ? countryNames(locale)(value) : value
}

// Creating an Intl formatter costs far more than using it. The keys are words with a space between.

const moneyFormat = memoizeLru(500, (key) => {
  const [locale, currency = '', digits = ''] = key.split(' ')
  // The decimals are not those of Intl, which leaves out decimals that are rare in a country.
  const least = minorDigits(currency)
  const max = digits === '' ? least : Number(digits)
  return new Intl.NumberFormat(locale, {
    style: 'currency',
    currency,
    minimumFractionDigits: Math.min(max, least),
    maximumFractionDigits: max
  })
})

const numberFormat = memoizeLru(200, (key) => {
  const [locale, digits] = key.split(' ')
  return new Intl.NumberFormat(locale, { maximumFractionDigits: Number(digits) })
})

const percentFormat = memoizeLru(200, (key) => {
  const [locale, digits] = key.split(' ')
  return new Intl.NumberFormat(locale, { style: 'unit', unit: 'percent', maximumFractionDigits: Number(digits) })
})

const dateFormat = memoizeLru(100, (key) => {
  const [locale, style] = key.split(' ')
  return new Intl.DateTimeFormat(locale, { timeZone: 'UTC', ...(isDateStyle(style) ? { dateStyle: style } : {}) })
})

/** The names by codes of two letters, of which there are 676. */
const countryNames = memoizeLru(50, (locale) => {
  const names = new Intl.DisplayNames(locale, { type: 'region' })
  const known = new Map<string, string>()
  return (code: string): string => {
    const name = known.get(code) ?? names.of(code) ?? code
    known.set(code, name)
    return name
  }
})

/** Intl formats a decimal text digit by digit at any length. A number would lose digits as a double. */
function exact (value: Decimal): Intl.StringNumericLiteral {
  return String(value) as Intl.StringNumericLiteral
}
