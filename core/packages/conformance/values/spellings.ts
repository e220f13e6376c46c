import { midnightOf, minorDigits, Money, normalForm } from '@dispatch/common'
import type { Leaf } from './leaves.ts'

/**
 * What must reach the vendor of a value. `expected`: as the provider has got it. `mark`: what it is found by; without one, its spelling
 * itself is looked for.
 */
export type Part =
  & { at: string, expected: string, mark?: string }
  & ({ kind: 'text' | 'address' | 'filename' | 'phone' | 'day' | 'word' } | { kind: 'amount', currency: string })

/** The spellings in which a plain value reached the vendor: an awkward one must come in one of them. Empty where it did not. */
export type Spelled = { ways: readonly string[], paths: readonly string[] }

/** How a value stands in what the vendor reads: `right`, or `wrong` in these leaves; neither where it does not stand there at all. */
export type Verdict = { right: boolean, wrong: readonly Leaf[] }

/** In which ways a plain value reached the vendor. */
export function spelledIn (part: Part, leaves: readonly Leaf[]): Spelled {
  const found = leaves.flatMap((leaf) => waysOf(part, leaf, leaves).map((way) => ({ way, place: leaf.where })))
  return { ways: [...new Set(found.map(({ way }) => way))], paths: [...new Set(found.map(({ place }) => place))] }
}

/** Whether an awkward value reached the vendor in the way of the plain one at its place. */
export function judge (part: Part, { ways }: Spelled, leaves: readonly Leaf[]): Verdict {
  const isRight = (leaf: Leaf): boolean => waysOf(part, leaf, leaves).some((way) => ways.some((known) => isSameWay(known, way)))
  const wrong = leaves.filter((leaf) => isMeant(part, leaf) && !isRight(leaf) && !isShortQuestion(part, leaf))
  const lines = part.kind === 'text' ? linesOf(part.expected) : []
  const whole = lines.every((line) => leaves.some(({ text }) => hasText(text, line)))
  return { right: whole && leaves.some(isRight), wrong }
}

/** Whether a leaf has the value in some spelling, maybe a wrong one. */
function isMeant ({ mark, kind, expected }: Part, { text }: Leaf): boolean {
  if (mark !== undefined) return text.toLowerCase().includes(mark)
  return kind === 'phone' && /^[+\d\s().-]+$/.test(text) && digitsOf(text).endsWith(digitsOf(expected).slice(-lastDigits))
}

/** A question may have the beginning of a text: a URL is of limited length, and what the text becomes is not decided by it. */
function isShortQuestion ({ mark = '', expected }: Part, { text, isQuestion }: Leaf): boolean {
  const from = (whole: string): string => whole.slice(whole.indexOf(mark))
  return isQuestion === true && text.includes(mark) && from(plain(expected)).startsWith(from(plain(text)))
}

/** The end of a number that no other number has. */
const lastDigits = 6
const digitsOf = (text: string): string => text.replaceAll(/\D/g, '')

/** The ways in which a leaf spells a value right. */
function waysOf (part: Part, leaf: Leaf, leaves: readonly Leaf[]): string[] {
  if (part.mark !== undefined && !isMeant(part, leaf)) return []
  if (part.kind === 'phone') return isNumber(part.expected, leaf, leaves) ? ['number'] : []
  if (part.kind === 'day') return daysIn(part.expected, leaf)
  if (part.kind === 'amount') return amountsIn(part, leaf)
  if (part.kind === 'word') return hasWord(leaf.text, part.expected) ? ['word'] : []
  if (part.kind === 'address') return hasAddress(leaf.text, part.expected) ? ['address'] : []
  if (part.kind === 'filename') return hasFilename(leaf, part.expected) ? ['name'] : []
  return hasText(leaf.text, part.expected) ? ['text'] : []
}

/** Letters with their accents have two forms, and lines two ends. */
function plain (text: string): string {
  return normalForm(text.replaceAll('\r\n', '\n'))
}

const linesOf = (text: string): string[] => plain(text).split('\n').map((line) => line.trim()).filter((line) => line !== '')

/** As it is; within another text also as a text of JSON, as query languages have it. Lines may become several values. */
function hasText (text: string, expected: string): boolean {
  const quoted = JSON.stringify(expected)
  return linesOf(expected).some((line) => plain(text).includes(line)) || (text !== quoted && text.includes(quoted))
}

/** Domains may be in any case, what stands before them not. */
function hasAddress (text: string, expected: string): boolean {
  const at = expected.lastIndexOf('@')
  const [local, domain] = [expected.slice(0, at), expected.slice(at)]
  const found = text.indexOf(`${local}@`)
  const before = text[found - 1]
  return found >= 0 && (before === undefined || /[\s<,;:=("']/.test(before)) &&
    text.slice(found + local.length).toLowerCase().startsWith(domain.toLowerCase())
}

/** A name of a file has its letters and digits in their order; in a header, those of ASCII. Other characters may be replaced. */
function hasFilename ({ text, isHeader }: Leaf, expected: string): boolean {
  const letters = (name: string): string =>
    isHeader === true ? normalForm(name, 'NFKD').replaceAll(/[^A-Za-z0-9]+/g, '') : plain(name).replaceAll(/[^\p{L}\p{N}]+/gu, '')
  return letters(text).includes(letters(expected.replace(/\.[^.]*$/, '')))
}

function hasWord (text: string, word: string): boolean {
  return new RegExp(`(?<![\\p{L}\\p{N}])${RegExp.escape(word)}(?![\\p{L}\\p{N}])`, 'u').test(text)
}

/** In E.164, with or without + or 00; or without the code of its country, which then stands beside it. */
function isNumber (expected: string, leaf: Leaf, leaves: readonly Leaf[]): boolean {
  const [whole, digits] = [digitsOf(expected), digitsOf(leaf.text)]
  if (!/^[+\d\s().-]+$/.test(leaf.text)) return false
  if (digits === whole || digits === `00${whole}`) return true
  const code = whole.slice(0, -digits.length)
  const parent = leaf.where.replace(/[^/]*$/, '')
  return whole.endsWith(digits) && code !== '' && code !== whole &&
    leaves.some(({ where, text }) => where.startsWith(parent) && where !== leaf.where && digitsOf(text) === code)
}

const hour = 3600

/** A day in figures, or as a time in Unix seconds or milliseconds, whose distance from midnight in UTC is part of the way. */
function daysIn (expected: string, { text }: Leaf): string[] {
  const [day = ''] = /^\d{4}-\d{2}-\d{2}/.exec(expected) ?? []
  const [year = '', month = '', date = ''] = day.split('-')
  const figures = [day, `${year}${month}${date}`, `${date}/${month}/${year}`, `${month}/${date}/${year}`, `${date}.${month}.${year}`,
    `${year}/${month}/${date}`]
  const seconds = /^\d{10}(\d{3})?$/.test(text) ? Number(text.slice(0, 10)) - midnightOf(day).getTime() / 1000 : NaN
  return [
    ...figures.flatMap((written, index) => text.includes(written) ? [`figures ${index}`] : []),
    ...seconds > -14 * hour && seconds < 38 * hour ? [`seconds ${seconds}`] : []
  ]
}

/** Clocks are changed by an hour in summer. */
function isSameWay (known: string, way: string): boolean {
  const [seconds, others] = [known, way].map((one) => Number(/^seconds (-?\d+)$/.exec(one)?.[1]))
  return known === way || (seconds !== undefined && others !== undefined && Math.abs(seconds - others) <= hour)
}

/** An amount in the unit of its currency, or in the minor unit. */
function amountsIn ({ expected, currency }: Part & { kind: 'amount' }, { text }: Leaf): string[] {
  if (!/^-?\d+(\.\d+)?$/.test(text)) return []
  const [amount, read] = [new Money(expected), new Money(text)]
  return [
    ...read.eq(amount) ? ['unit'] : [],
    ...read.eq(amount.mul(new Money(10).pow(minorDigits(currency)))) ? ['minor unit'] : []
  ]
}

/** What has become of a value, as far as it can be told. */
export function damageOf ({ kind, expected }: Part, { text }: Leaf): string {
  const bytes = Buffer.from(expected)
  const html = expected.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;')
  const known: readonly (readonly [damage: string, found: boolean])[] = [
    ['it is escaped for XML or HTML once too often', text.includes(html) || text.includes(html.replaceAll('&quot;', '"'))],
    ['it is escaped for JSON once too often', text.includes(JSON.stringify(expected).slice(1, -1))],
    ['it is percent-encoded once too often', text.includes(encodeURIComponent(expected))],
    ['its UTF-8 was read as Latin-1', text.includes(bytes.toString('latin1'))],
    ['it was written in Latin-1', text.includes(Buffer.from(expected, 'latin1').toString()) || text.includes('\ufffd')],
    ['it is in another case', text.toLowerCase().includes(expected.toLowerCase())],
    [kind === 'phone' ? 'it is another number' : 'it is cut or changed', true]
  ]
  return known.find(([, found]) => found)?.[0] ?? ''
}
