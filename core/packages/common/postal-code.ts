import isPostalCode, { locales } from 'validator/lib/isPostalCode.js'
import { addressFormOf } from './address-forms.ts'
import { normalForm } from './normal-form.ts'

/** A postal code as it is written in its country. `isKnown`: whether its form is the country's; other ones are as they were given. */
export type PostalCode = { code: string, isKnown: boolean }

/**
 * Reads a postal code in any of its usual writings: `sw1a1aa` is `SW1A 1AA`, `〒1000001` is `100-0001`, `AZ1000` is `AZ 1000`, `75 008` is
 * `75008`, `C.P. 06000` is `06000`. Undefined for what is no code of the country. A code with more digits after it, and one that another
 * list of forms has or cannot judge, may exist: it stays as it is written.
 */
export function readPostalCode (given: string, country: string): PostalCode | undefined {
  const { code: { form } = {} } = addressFormOf(country)
  const written = given.trim()
  if (form === undefined) return { code: written, isKnown: false }
  if (plainLengths(country).has(written.length) && patternOf(form).test(written)) return { code: written, isKnown: true }
  const plain = normalForm(written, 'NFKC').toUpperCase().replace(/^(?:〒|C\.?P\.?(?= ?\d))\s*/, '')
  const [body, service] = splitSorting(plain, country)
  const code = spelled(body, country)
  if (code !== undefined) return { code: service === undefined ? code : `${code} ${service}`, isKnown: true }
  const [, shorter] = /^(.*\d)[ -]\d{1,4}$/.exec(body) ?? []
  const mayExist = (shorter !== undefined && spelled(shorter, country) !== undefined) || isOfOtherList(plain, country)
  return mayExist ? { code: written, isKnown: false } : undefined
}

/** A postal code without what only its writing adds, for comparison. */
export function comparablePostalCode (given: string, country: string): string {
  const plain = (readPostalCode(given, country)?.code ?? given).toUpperCase()
  const [code] = splitSorting(plain, country)
  const letters = code.replaceAll(/[^\p{L}\p{N}]/gu, '')
  return /^\d/.test(examplePostalCode(country) ?? '') ? letters.replace(/^[A-Z]+(?=\d)/, '') : letters
}

/** How a postal code of a country may look, for a sentence. */
export function examplePostalCode (country: string): string | undefined {
  return addressFormOf(country).code?.examples?.[0]
}

/** Countries that have a sorting code after the city: the French CEDEX. */
const cedex = /^(\S{1,10}(?: \d{3})?)\s+(CEDEX(?:\s+\d{1,2})?)$/

/** A postal code, and the sorting code that is written with it: `75008 CEDEX 08`. */
export function splitSorting (code: string, country: string): [code: string, sorting?: string] {
  const isFrench = country === 'FR' || addressFormOf(country).order === 'ZCX'
  const [, before, service] = isFrench ? cedex.exec(code) ?? [] : []
  return before === undefined || service === undefined ? [code] : [before, service]
}

/** Signs of countries on roads, which were written before postal codes too, where they are not the code of ISO 3166-1. */
const roadSigns: Readonly<Record<string, string>> = {
  AT: 'A',
  BE: 'B',
  DE: 'D',
  ES: 'E',
  FI: 'FIN',
  FR: 'F',
  HU: 'H',
  IT: 'I',
  LI: 'FL',
  LU: 'L',
  NO: 'N',
  PT: 'P',
  SE: 'S',
  SI: 'SLO'
}

function spelled (text: string, country: string): string | undefined {
  const { sign } = addressFormOf(country)
  const bare = inForm(text, country)
  if (bare !== undefined) return bare
  for (const known of [country, roadSigns[country] ?? country]) {
    const [, separator = '', rest = ''] = new RegExp(`^${known}([- ]?)(.+)$`).exec(text) ?? []
    const code = inForm(rest, country)
    if (code !== undefined) return `${sign?.startsWith(known) === true ? sign : `${known}${separator === '' ? '' : '-'}`}${code}`
  }
  return undefined
}

/** A code in the form of its country, with the spaces and dashes that its examples have. */
function inForm (text: string, country: string): string | undefined {
  const letters = lettersOf(text)
  if (letters === '') return undefined
  const { code: { form = '', examples = [] } = {} } = addressFormOf(country)
  const pattern = patternOf(form)
  for (const example of examples) {
    const length = lettersOf(example).length
    // What every code of the country begins with may be left out: LV-1010, AD500.
    const whole = length === letters.length + country.length && example.startsWith(country) ? country + letters : letters
    const written = whole.length === length ? likeExample(whole, example) : ''
    if (written !== '' && pattern.test(written)) return written
  }
  return pattern.test(letters) ? letters : undefined
}

/** Without spaces and dashes; for a dash, Japanese keyboards also give a minus, or the sign of a long vowel. */
function lettersOf (text: string): string {
  return text.replaceAll(/[\s.\p{Pd}\u2212ー]/gu, '')
}

/** Puts the spaces and dashes of an example between as many letters. */
function likeExample (letters: string, example: string): string {
  let [written, next] = ['', 0]
  for (const character of example) written += character === ' ' || character === '-' ? character : letters[next++] ?? ''
  return written
}

const lengths = new Map<string, ReadonlySet<number>>()

/** The lengths of codes without a space or a dash, which are read at once; none where some codes of the country have one. */
function plainLengths (country: string): ReadonlySet<number> {
  const known = lengths.get(country)
  if (known !== undefined) return known
  const { code: { examples = [] } = {} } = addressFormOf(country)
  const isPlain = examples.every((example) => /^[\dA-Z]+$/.test(example))
  const found = new Set(isPlain ? examples.map((example) => example.length) : [])
  lengths.set(country, found)
  return found
}

const patterns = new Map<string, RegExp>()

function patternOf (form: string): RegExp {
  const pattern = patterns.get(form) ?? new RegExp(`^(?:${form})$`)
  patterns.set(form, pattern)
  return pattern
}

/** A code is refused only where two lists of forms agree that it is none. */
function isOfOtherList (code: string, country: string): boolean {
  const known = locales.find((name) => name === country)
  return known === undefined || [code, lettersOf(code)].some((written) => isPostalCode.default(written, known))
}
