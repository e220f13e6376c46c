import { inspect } from 'node:util'
import type { Test } from 'tap'
import { pointer } from '../../core/packages/common/json.ts'

/**
 * What a value must be. A regular expression stands for a text in which it is found, an arrow function for a value of which it
 * says `true`, a constructor for a value of its kind (`Number`: a finite one; `Object`: anything that is one). All else is itself.
 * A field that is undefined is one that is not there.
 */
export type Pattern =
  | string
  | number
  | bigint
  | boolean
  | symbol
  | null
  | undefined
  | RegExp
  | Date
  | Uint8Array
  | ((value: any) => boolean)
  | (abstract new(...given: never[]) => unknown)
  | BigIntConstructor
  | SymbolConstructor
  | readonly Pattern[]
  | { readonly [field: string]: Pattern }

/** Passes for a value that is as written: lists have the same elements, objects the same fields and no others. */
export function matches (t: Test, found: unknown, wanted: Pattern, message = 'is as written'): boolean {
  t.currentAssert = matches
  return report(t, differences(found, wanted, sameFields), message)
}

/** Passes for a value that has what is written: its objects may have fields that are not named. Lists and `{}` are as written. */
export function has (t: Test, found: unknown, wanted: Pattern, message = 'has what is written'): boolean {
  t.currentAssert = has
  return report(t, differences(found, wanted, namedFields), message)
}

/** Passes for a text with this part in it. */
export function contains (t: Test, text: unknown, part: string | RegExp, message = 'contains what is written'): boolean {
  t.currentAssert = contains
  return report(t, isWithin(text, part) ? [] : [difference('', text, part)], message)
}

/** Passes for a text without this part in it; what is no text at all fails. */
export function lacks (t: Test, text: unknown, part: string | RegExp, message = 'lacks what is written'): boolean {
  t.currentAssert = lacks
  const isText = typeof text === 'string' && part !== ''
  return report(t, isText && !isWithin(text, part) ? [] : [`found ${shown(text)}, wanted a text without ${shown(part)}`], message)
}

function report (t: Test, different: string[], message: string): boolean {
  return different.length === 0 ? t.pass(message) : t.fail(`${message}: ${different.join('; ')}`)
}

/** An empty part is in every text: a test of it could not fail. */
function isWithin (text: unknown, part: string | RegExp): boolean {
  if (typeof text !== 'string') return false
  return typeof part === 'string' ? part !== '' && text.includes(part) : text.search(part) !== -1
}

type Fields = Readonly<Record<string, unknown>>
/** The fields of an object that are compared with those of a pattern. */
type Compared = (found: Fields, wanted: Fields) => string[]

const namesOf = (fields: Fields) => Object.keys(fields).filter((name) => fields[name] !== undefined)
const sameFields: Compared = (found, wanted) => [...new Set([...Object.keys(wanted), ...namesOf(found)])]
const namedFields: Compared = (found, wanted) => Object.keys(wanted).length === 0 ? namesOf(found) : Object.keys(wanted)

/** Each with its JSON pointer. */
function differences (found: unknown, wanted: Pattern, compared: Compared, path = ''): string[] {
  if (isList(wanted)) return isList(found) ? inLists(found, wanted, compared, path) : [difference(path, found, wanted)]
  if (!isPlain(wanted)) return isLeaf(found, wanted) ? [] : [difference(path, found, wanted)]
  // Of an object that is not plain (an error, an answer) a test names what it means; all its fields are nothing to compare.
  const isComparable = isPlain(found) || (isObject(found) && compared === namedFields && Object.keys(wanted).length > 0)
  if (!isComparable) return [difference(path, found, wanted)]
  return compared(found, wanted).flatMap((name) => {
    const value = valueOf(found, name)
    const at = pointer(path, name)
    if (value === undefined && wanted[name] !== undefined) return [`${at}: found no field, wanted ${shown(wanted[name])}`]
    if (!Object.hasOwn(wanted, name)) return [`${at}: found ${shown(value)}, wanted no field`]
    return differences(value, wanted[name], compared, at)
  })
}

function inLists (found: readonly unknown[], wanted: readonly Pattern[], compared: Compared, path: string): string[] {
  return Array.from({ length: Math.max(found.length, wanted.length) }).flatMap((_, index) => {
    const at = pointer(path, index)
    if (index >= found.length) return [`${at}: found no element, wanted ${shown(wanted[index])}`]
    if (index >= wanted.length) return [`${at}: found ${shown(found[index])}, wanted no element`]
    return differences(found[index], wanted[index], compared, at)
  })
}

function isLeaf (found: unknown, wanted: Exclude<Pattern, readonly Pattern[]>): boolean {
  if (wanted instanceof RegExp) return isWithin(found, wanted)
  if (wanted instanceof Date) return found instanceof Date && Object.is(found.getTime(), wanted.getTime())
  if (wanted instanceof Uint8Array) return found instanceof Uint8Array && Buffer.compare(found, wanted) === 0
  if (typeof wanted === 'function') return isOf(found, wanted)
  if (isObject(wanted)) throw new TypeError(`no pattern: ${shown(wanted)}`)
  return Object.is(found, wanted)
}

function isOf (
  found: unknown,
  wanted: Extract<Pattern, (...given: never[]) => unknown> | (abstract new(...given: never[]) => unknown)
): boolean {
  // Arrow functions alone have no prototype.
  if (!('prototype' in wanted)) return (wanted as (value: unknown) => unknown)(found) === true
  if (wanted === Number) return Number.isFinite(found)
  if (wanted === Object) return isObject(found) && !isList(found)
  const primitives: readonly unknown[] = [String, Boolean, BigInt, Symbol, Function]
  return primitives.includes(wanted) ? typeof found === wanted.name.toLowerCase() : found instanceof (wanted as abstract new() => unknown)
}

const isObject = (value: unknown): value is Fields => typeof value === 'object' && value !== null && !isList(value)
const isList = (value: unknown): value is readonly unknown[] => Array.isArray(value)

function isPlain (value: unknown): value is Fields {
  return isObject(value) && [Object.prototype, null].includes(Object.getPrototypeOf(value) as object | null)
}

/** What plain data inherits (`toString`) is not theirs; of other objects the getters count. */
function valueOf<Value> (fields: Readonly<Record<string, Value>>, name: string): Value | undefined {
  return isPlain(fields) && !Object.hasOwn(fields, name) ? undefined : fields[name]
}

function difference (path: string, found: unknown, wanted: unknown): string {
  return `${path === '' ? '' : `${path}: `}found ${shown(found)}, wanted ${shown(wanted)}`
}

/** Texts are cut at 300 characters: pages and files are compared too. */
function shown (value: unknown): string {
  return inspect(value, { depth: 4, breakLength: Infinity, maxArrayLength: 20, maxStringLength: 300 })
}
