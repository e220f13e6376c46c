import { memoizeLru } from '../model/memoize.ts'
import { quoted } from './number-format.ts'

/** A day in spring whose year, month and day have different digits. */
const sample = new Date(Date.UTC(2026, 2, 4))

/** The format for a locale whose years or months a sheet cannot write (ISO 8601). */
const plainFormat = 'yyyy-mm-dd'

/** The format of a date in the order and the words of the locale. */
export function dateFormat (locale: string): string {
  return formats(locale).format
}

const formats = memoizeLru(100, (locale) => ({ format: formatOf(locale) }))

function formatOf (locale: string): string {
  const parts = new Intl.DateTimeFormat(locale, { timeZone: 'UTC', dateStyle: 'medium' }).formatToParts(sample)
  const pieces = parts.map(pieceOf)
  if (!pieces.every((piece) => piece !== undefined)) return plainFormat
  if (!pieces.includes('mmm')) return pieces.join('')
  const language = languages[locale] ?? languages[new Intl.Locale(locale).language]
  return language === undefined ? plainFormat : `[$-${language}]${pieces.join('')}`
}

/** The code for a part of a date; undefined for a part that formats do not have. */
function pieceOf ({ type, value }: Intl.DateTimeFormatPart): string | undefined {
  if (type === 'literal') return quoted(value)
  if (type === 'day') return { 4: 'd', '04': 'dd' }[value]
  if (type === 'year') return { 2026: 'yyyy', 26: 'yy' }[value]
  if (type === 'month') return { 3: 'm', '03': 'mm' }[value] ?? (/\d/.test(value) ? undefined : 'mmm')
  return undefined
}

/** The languages of month names as hexadecimal LCIDs (MS-LCID, 2.2). */
const languages: Readonly<Record<string, string>> = {
  bg: '402',
  ca: '403',
  cs: '405',
  da: '406',
  de: '407',
  'de-AT': 'C07',
  'de-CH': '807',
  el: '408',
  en: '409',
  'en-AU': 'C09',
  'en-CA': '1009',
  'en-GB': '809',
  'en-IE': '1809',
  'en-NZ': '1409',
  es: 'C0A',
  'es-MX': '80A',
  et: '425',
  fi: '40B',
  fr: '40C',
  'fr-BE': '80C',
  'fr-CA': 'C0C',
  'fr-CH': '100C',
  ga: '83C',
  hr: '41A',
  hu: '40E',
  is: '40F',
  it: '410',
  'it-CH': '810',
  lt: '427',
  lv: '426',
  nb: '414',
  nl: '413',
  'nl-BE': '813',
  no: '414',
  pl: '415',
  pt: '816',
  'pt-BR': '416',
  ro: '418',
  ru: '419',
  sk: '41B',
  sl: '424',
  sv: '41D',
  tr: '41F',
  uk: '422'
}
