import type { Json, JsonObject } from './json.ts'
import { isRecord } from './records.ts'
import type { Validator } from './validator.ts'

/**
 * A check for which null is absence: many programs write it for a field that they leave out. Where a schema permits null, it stays. A value
 * that fits comes back without the others.
 */
export function nullIsAbsence<T> (check: Validator<T>): Validator<T> {
  return (value, base = '') => {
    const fit = check(value, base)
    const nulls = fit.ok ? [] : nullMembers(value, fit.nulls ?? [])
    return nulls.length === 0 ? fit : check(withoutMembers(value, nulls), base)
  }
}

/** Those of the places (JSON pointers into the value) where a member of an object is null. An item of a list cannot be left out. */
export function nullMembers (value: unknown, paths: readonly string[]): string[] {
  return paths.filter((place) => isNullMember(value, tokensOf(place)))
}

/** The value without the members at these places; what is not changed is not copied. The time is proportional to what is copied. */
export function withoutMembers (value: unknown, paths: readonly string[]): unknown {
  return without(value, paths.map(tokensOf))
}

/** A value without the members of its objects that are null. */
export function withoutNulls<Value extends Json> (value: Value): Value
export function withoutNulls (value: Json): Json {
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map((item: Json) => withoutNulls(item))
  const given = Object.entries(value as JsonObject).filter(([, member]) => member !== null)
  return Object.fromEntries(given.map(([name, member]) => [name, withoutNulls(member)]))
}

function tokensOf (place: string): string[] {
  return place.split('/').slice(1).map((token) => token.replaceAll('~1', '/').replaceAll('~0', '~'))
}

function isNullMember (value: unknown, [token, ...rest]: readonly string[]): boolean {
  if (token === undefined || typeof value !== 'object' || value === null || !Object.hasOwn(value, token)) return false
  const child = (value as Record<string, unknown>)[token]
  return rest.length === 0 ? child === null && isRecord(value) : isNullMember(child, rest)
}

function without (value: unknown, paths: readonly (readonly string[])[]): unknown {
  if (paths.length === 0 || typeof value !== 'object' || value === null) return value
  const below = Map.groupBy(paths, ([token = '']) => token)
  const changed = (child: unknown, token: string): unknown => {
    const inside = below.get(token)
    return inside === undefined ? child : without(child, inside.map((path) => path.slice(1)))
  }
  if (Array.isArray(value)) return value.map((item, index) => changed(item, String(index)))
  const left = Object.entries(value).filter(([token]) => below.get(token)?.some((path) => path.length === 1) !== true)
  return Object.fromEntries(left.map(([token, child]) => [token, changed(child, token)]))
}
