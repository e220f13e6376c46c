import { memoizeLru } from '../model/memoize.ts'

/** The format of an amount with so many decimals. The currency sign has the position of the locale. */
export function moneyFormat (locale: string, currency: string, decimals: number): string {
  return moneyFormats(`${locale} ${currency} ${decimals}`).format
}

/** The format of a percentage: a sheet contains 0.2 where the document shows 20 %. */
export function percentFormat (locale: string, decimals: number): string {
  return percentFormats(`${locale} ${decimals}`).format
}

// The keys are words with a space between.

const moneyFormats = memoizeLru(500, (key) => {
  const [locale, currency = '', decimals] = key.split(' ')
  return { format: patternOf(new Intl.NumberFormat(locale, { style: 'currency', currency }), Number(decimals)) }
})

const percentFormats = memoizeLru(500, (key) => {
  const [locale, decimals] = key.split(' ')
  return { format: patternOf(new Intl.NumberFormat(locale, { style: 'unit', unit: 'percent' }), Number(decimals)) }
})

/** The format of a number with so many decimals. */
export function numberFormat (decimals: number): string {
  return decimals === 0 ? '#,##0' : `#,##0.${'0'.repeat(decimals)}`
}

/** The most characters that Excel accepts in a format. */
const longest = 255

/** A format with words before its number, after its language; undefined for words that a format cannot contain. */
export function labelledFormat (words: string, format: string): string | undefined {
  const labelled = format.replace(/^(?:\[\$-[0-9A-F]+\])?/, (language) => `${language}"${words}"`)
  return /["\n]/.test(words) || labelled.length > longest ? undefined : labelled
}

/** The digits, with the signs before and after them in the locale. The program that shows the sheet adds its own separators. */
function patternOf (format: Intl.NumberFormat, decimals: number): string {
  const parts = format.formatToParts(1)
  const first = parts.findIndex(({ type }) => type === 'integer')
  const last = parts.findLastIndex(({ type }) => type === 'integer' || type === 'fraction')
  return [...parts.slice(0, first).map(affix), numberFormat(decimals), ...parts.slice(last + 1).map(affix)].join('')
}

function affix ({ type, value }: Intl.NumberFormatPart): string {
  if (type === 'currency') return `[$${plain(value)}]`
  return type === 'unit' || type === 'percentSign' ? value.replaceAll(/[^%]+/g, quoted) : quoted(value)
}

/** Without marks of text direction: a sheet has its own direction. */
function plain (text: string): string {
  return text.replaceAll(/[\u061c\u200e\u200f]/g, '')
}

/** Literal words of a format. */
export function quoted (text: string): string {
  const shown = plain(text)
  return shown === '' ? '' : `"${shown.replaceAll('"', '')}"`
}
