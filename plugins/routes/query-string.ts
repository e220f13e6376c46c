import { dayOf, isRecord, readMailbox } from '@dispatch/common'
import { parse, unescape } from 'node:querystring'

/**
 * Reads the query of a URL; `metadata[orderId]=A-1` becomes `{ metadata: { orderId: 'A-1' } }` (OpenAPI: deepObject). A plus is a space,
 * but where there can be none: in `+33612345678`, `ada+news@example.com` and `2026-11-26T00:00:00+01:00`, as people write them.
 */
export function parseQuery (text: string): Record<string, unknown> {
  const query: Record<string, unknown> = {}
  for (const [name, value] of Object.entries(parse(text.replaceAll(plusInValue, keptPlus)))) {
    const [, outer, inner] = /^(\w+)\[([^\]]*)\]$/.exec(name) ?? []
    if (outer === undefined || inner === undefined) set(query, name, value)
    else set(nested(query, outer), inner, value)
  }
  return query
}

/** A value with a plus in it. */
const plusInValue = /(?<==)[^&=]*\+[^&=]*/g

/** The value with its plus encoded where it cannot be a space. */
function keptPlus (value: string): string {
  const read = unescape(value)
  const isPlus = /^\+\d+$/.test(read) || dayOf(read) !== undefined || readMailbox(read)?.address === read
  return isPlus ? value.replaceAll('+', '%2B') : value
}

function nested (query: Record<string, unknown>, name: string): Record<string, unknown> {
  const known = Object.hasOwn(query, name) ? query[name] : undefined
  if (isRecord(known)) return known
  const object: Record<string, unknown> = {}
  set(query, name, object)
  return object
}

/** Defines an own property with any name, so that `__proto__` is only an unknown parameter. */
function set (object: object, name: string, value: unknown): void {
  Object.defineProperty(object, name, { value, enumerable: true, writable: true, configurable: true })
}
