/** A value that JSON can carry. */
export type Json = string | number | boolean | null | readonly Json[] | { readonly [key: string]: Json }
/** A JSON object. */
export type JsonObject = Readonly<Record<string, Json>>

/**
 * One problem: its place (a JSON pointer into the request; in a text of several lines also line and column, from 1), a machine-readable
 * code, and a sentence that helps.
 */
export type Problem = { path: string, code: string, message: string, line?: number, column?: number }

/** Limits of a JSON value that comes from outside: far above any real document, and far below a harmful size. */
export const jsonLimits = { depth: 32, arrayItems: 10_000, objectKeys: 1_000, problems: 20 } as const

/** The problem of a value beyond the limits. */
const boundCodes: readonly string[] = ['too_deep', 'too_many']

/** The only key with which an assignment would reach a prototype, in whatever program reads the value later. */
const forbiddenKey = '__proto__'

/** Appends one reference token to a JSON pointer (RFC 6901). */
export function pointer (base: string, token: string | number): string {
  // Nearly all tokens are plain names and indexes.
  if (typeof token === 'number' || !/[~/]/.test(token)) return `${base}/${token}`
  return `${base}/${token.replaceAll('~', '~0').replaceAll('/', '~1')}`
}

/**
 * What a parsed JSON value must not contain: NUL or a lone surrogate in a text (PostgreSQL and UTF-8 cannot hold them), a number beyond
 * double precision, a key that reaches a prototype, unlimited nesting or size. The walk is not recursive and stops after {@link
 * jsonLimits}.problems problems. Paths are JSON pointers below `base`.
 */
export function inspectJson (
  root: unknown,
  base = '',
  deepest: number = jsonLimits.depth,
  maxItems: number = jsonLimits.arrayItems
): Problem[] {
  const problems: Problem[] = []
  const pending: { value: unknown, path: string, depth: number }[] = [{ value: root, path: base, depth: 0 }]
  for (let node = pending.pop(); node !== undefined && problems.length < jsonLimits.problems; node = pending.pop()) {
    const { value, path, depth } = node
    const fault = typeof value === 'object' && value !== null ? structureFault(value, { depth, deepest, maxItems }) : scalarFault(value)
    if (fault !== undefined) {
      problems.push({ path, ...fault })
    } else if (Array.isArray(value)) {
      for (let index = value.length - 1; index >= 0; index--) pushChild(pending, value[index], path, index, depth)
    } else if (typeof value === 'object' && value !== null) {
      for (const [key, child] of Object.entries(value).reverse()) {
        const keyFault = key === forbiddenKey ? { code: 'forbidden_key', message: `The key "${key}" is not allowed.` } : scalarFault(key)
        if (keyFault === undefined) pushChild(pending, child, path, key, depth)
        else problems.push({ path: pointer(path, key.toWellFormed().replaceAll('\0', '\uFFFD')), ...keyFault })
      }
    }
  }
  return problems
}

/** Whether a value is so large that its other problems could number millions. */
export function isUnbounded (found: readonly Problem[]): boolean {
  return found.some(({ code }) => boundCodes.includes(code))
}

type Fault = { code: string, message: string }

function pushChild (
  pending: { value: unknown, path: string, depth: number }[],
  value: unknown,
  path: string,
  token: string | number,
  depth: number
): void {
  // Most values are short clean texts and ordinary numbers. They pass here, without building a pointer.
  if (typeof value === 'object' ? value !== null : scalarFault(value) !== undefined) {
    pending.push({ value, path: pointer(path, token), depth: depth + 1 })
  }
}

type Bounds = { depth: number, deepest: number, maxItems: number }

function structureFault (value: object, { depth, deepest, maxItems }: Bounds): Fault | undefined {
  if (depth > deepest) return { code: 'too_deep', message: `Nested deeper than ${deepest} levels.` }
  if (Array.isArray(value)) {
    return value.length > maxItems ? { code: 'too_many', message: `More than ${maxItems} items.` } : undefined
  }
  return Object.keys(value).length > jsonLimits.objectKeys
    ? { code: 'too_many', message: `More than ${jsonLimits.objectKeys} fields.` }
    : undefined
}

function scalarFault (value: unknown): Fault | undefined {
  if (typeof value === 'string') {
    if (value.includes('\0')) return { code: 'forbidden_character', message: 'The character NUL (U+0000) is not allowed.' }
    if (!value.isWellFormed()) {
      return { code: 'forbidden_character', message: 'A lone surrogate is not a character; send whole UTF-16 pairs.' }
    }
  } else if (typeof value === 'number' && !Number.isFinite(value)) {
    return { code: 'number_out_of_range', message: 'The number is beyond what a double can hold; send it as a decimal string.' }
  }
  return undefined
}
