import { memoizeLru } from '../compile/memoize.ts'

/** Formats are made once for what they depend on: words of a key, with a space between. */
const remembered = (make: (...words: string[]) => string): (...words: (string | number)[]) => string => {
  const memory = memoizeLru(500, (key) => ({ format: make(...key.split(' ')) }))
  return (...words) => memory(words.join(' ')).format
}

/** The format of an amount with so many decimals: the sign of the currency stands where the locale has it. */
export const moneyFormat: (locale: string, currency: string, decimals: number) => string = remembered((
  locale = '',
  currency = '',
  decimals = ''
) => patternOf(new Intl.NumberFormat(locale, { style: 'currency', currency }), Number(decimals)))

/** The format of a percentage: a sheet has 0.2 where the document says 20 %. */
export const percentFormat: (locale: string, decimals: number) => string = remembered((locale = '', decimals = '') =>
  patternOf(new Intl.NumberFormat(locale, { style: 'unit', unit: 'percent' }), Number(decimals))
)

/** The format of a number with so many decimals. */
export function numberFormat (decimals: number): string {
  return decimals === 0 ? '#,##0' : `#,##0.${'0'.repeat(decimals)}`
}

/** Characters that a format has at most (as Excel takes them). */
const longest = 255

/** A format with words before its number, behind its language; undefined for words that no format has. */
export function labelledFormat (words: string, format: string): string | undefined {
  const labelled = format.replace(/^(?:\[\$-[0-9A-F]+\])?/, (language) => `${language}"${words}"`)
  return /["\n]/.test(words) || labelled.length > longest ? undefined : labelled
}

/** The digits, with what stands before and behind them in the locale; whoever shows the sheet has separators of his own. */
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

/** Without marks that turn the direction of text: sheets have a direction of their own. */
function plain (text: string): string {
  return text.replaceAll(/[\u061c\u200e\u200f]/g, '')
}

/** Words of a format. */
export function quoted (text: string): string {
  const shown = plain(text)
  return shown === '' ? '' : `"${shown.replaceAll('"', '')}"`
}
