import type { Fit, JsonObject, Problem } from '@dispatch/common'
import { mapTexts } from '@dispatch/vendor-io'

/** The largest answer, in characters of JSON: it is stored, and shown to the client. */
const maxCharacters = 65_536

/** A copy of what a foreign function returned, if that is plain JSON of bounded size; texts in it are printable. */
export function copyJson (value: unknown): Fit<unknown> {
  try {
    if (value === undefined) return unreadable('Nothing was returned.')
    const text = JSON.stringify(value, refuseUnplain)
    if (text.length > maxCharacters) return unreadable(`More than ${maxCharacters} characters of JSON.`)
    return { ok: true, value: mapTexts(JSON.parse(text) as JsonObject, printable) }
  } catch {
    return unreadable('Not plain JSON data.')
  }
}

/** Whether a value can be told in JSON without losing anything. */
export function isPlainJson (value: unknown): boolean {
  try {
    JSON.stringify(value, refuseUnplain)
    return value !== undefined
  } catch {
    return false
  }
}

/** JSON.stringify would drop these without a word. */
function refuseUnplain (_key: string, value: unknown): unknown {
  if (!isPlain(value)) throw new TypeError('Not plain data.')
  return value
}

function isPlain (value: unknown): boolean {
  if (typeof value === 'number') return Number.isFinite(value)
  if (typeof value !== 'object') return typeof value !== 'function' && typeof value !== 'symbol'
  return value === null || Array.isArray(value) || [Object.prototype, null].includes(Object.getPrototypeOf(value) as object | null)
}

/** A text that PostgreSQL and UTF-8 can hold: a vendor's stray character must not lose an accepted dispatch. */
export function printable (text: string): string {
  return text.toWellFormed().replaceAll('\0', '\uFFFD')
}

function unreadable (message: string): { ok: false, problems: Problem[] } {
  return { ok: false, problems: [{ path: '', code: 'unreadable', message }] }
}
