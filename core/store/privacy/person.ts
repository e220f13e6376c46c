import { type RawBuilder, sql } from 'kysely'

/**
 * By what a person is known: e-mail addresses and phone numbers in the one writing in which all are compared, and what a company calls
 * them by.
 */
export type Identifiers = { addresses: readonly string[], numbers: readonly string[], references: readonly string[] }

/**
 * Finds a person in texts and JSON. The person alone: an address within a longer one, and a number within a longer one, are somebody
 * else's. A reference is one where it is a whole text. `database`: the same as regular expressions of PostgreSQL, by whether case counts.
 */
export type Person = {
  /** `own`: what of the text the company has written, by default all of it. */
  isIn: (text: string, own?: string) => boolean
  database: { anyCase: string | null, exact: string | null }
}

/** Letters and digits, within brackets: in JavaScript, and in PostgreSQL. */
const [here, there] = ['\\p{L}\\p{N}', '[:alnum:]']

export function personOf ({ addresses, numbers, references }: Identifiers): Person {
  const anyCase = (letters: string): string | null =>
    either([...addresses.map((address) => addressPattern(address, letters)), ...numbers.map(numberPattern)])
  const exact = either(references.map(referencePattern))
  const [inAll, inOwn] = [expression(anyCase(here), 'iu'), expression(exact, 'u')]
  return {
    isIn: (text, own = text) => inAll?.test(text) === true || inOwn?.test(own) === true,
    database: { anyCase: anyCase(there), exact }
  }
}

/** Whether a text of the database names the person. `own`: what of it the company has written, where references stand. */
export function names (
  text: RawBuilder<unknown>,
  { database: { anyCase, exact } }: Person,
  own: RawBuilder<unknown> = text
): RawBuilder<boolean> {
  return sql<boolean>`(coalesce(${text} ~* ${anyCase}::text, false) or coalesce(${own} ~ ${exact}::text, false))`
}

/** A regular expression of PostgreSQL: any of some words, but not within a longer one. Null where there is none. */
export function anyWord (words: readonly string[]): string | null {
  const all = either(words.map(literal))
  return all === null ? null : `(?<![${there}])(?:${all})(?![${there}])`
}

const either = (patterns: readonly string[]): string | null => patterns.length === 0 ? null : patterns.join('|')

function expression (pattern: string | null, flags: string): RegExp | undefined {
  return pattern === null ? undefined : new RegExp(pattern, flags)
}

/** What may stand for a character in JSON and in URLs. */
const written = new Map([['@', '(?:@|%40|\\\\u0040)'], ['+', '(?:\\+|%2[Bb])']])

function literal (text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|/@]/g, (one) => written.get(one) ?? `\\${one}`)
}

/** In JSON, the letter of an escaped line break may stand before it. */
function addressPattern (address: string, letters: string): string {
  return `(?:(?<![${letters}._%+-])|(?<=\\\\[bfnrt]))${literal(address)}(?![${letters}_-])(?!\\.[${letters}])`
}

/** Digits that stand together in any writing. Few digits without a plus are an amount or the like. */
const between = '(?:[ .()/\u00a0\u202f-]|\\(0\\)){0,4}'
const fewest = 10

function numberPattern (number: string): string {
  const digits = number.replace(/\D/g, '')
  const spelt = Array.from(digits).join(between)
  const begun = digits.length < fewest ? `(?:\\+|%2[Bb]|00)${between}` : ''
  return `(?<![0-9.])${begun}${spelt}(?![0-9])`
}

/** Fields and columns whose texts are words of ours or of a standard: none of them is what a company calls a person by. */
const ofOurs = ['channel', 'country', 'currency', 'error', 'kind', 'language', 'method', 'outcome', 'provider', 'providerName', 'role',
  'service', 'state', 'status', 'type', '\\w+_(?:by|code|status|type)', 'contentType', 'deliveryStatus', 'documentType'].join('|')

/** Matches the reference as a whole text: of a column, of JSON, or of JSON within a text of JSON. Names of fields do not count. */
function referencePattern (reference: string): string {
  const text = literal(JSON.stringify(reference).slice(1, -1))
  return `(?:^|(?<!"(?:${ofOurs})\\\\?" ?: ?\\\\?)")${text}(?:$|\\\\?"(?! ?:))`
}
