import { isRecord } from '@dispatch/common'
import { parse } from 'node:querystring'

/** Reads the query of a URL; `metadata[orderId]=A-1` becomes `{ metadata: { orderId: 'A-1' } }` (OpenAPI: deepObject). */
export function parseQuery (text: string): Record<string, unknown> {
  const query: Record<string, unknown> = {}
  for (const [name, value] of Object.entries(parse(text))) {
    const [, outer, inner] = /^(\w+)\[([^\]]*)\]$/.exec(name) ?? []
    if (outer === undefined || inner === undefined) set(query, name, value)
    else set(nested(query, outer), inner, value)
  }
  return query
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
