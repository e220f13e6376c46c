import type { Problem } from './json.ts'
import { isRecord } from './records.ts'
import type { Validator } from './validator.ts'

/**
 * A check for which null is absence: many programs write it for a field that they leave out. Where a schema permits null, it stays. A value
 * that fits comes back without the others.
 */
export function nullIsAbsence<T> (check: Validator<T>): Validator<T> {
  return (value, base = '') => {
    const fit = check(value, base)
    const nulls = fit.ok ? [] : nullMembers(value, fit.problems, base)
    return nulls.length === 0 ? fit : check(withoutMembers(value, nulls), base)
  }
}

/** The places (JSON pointers into the value) of members that are null and have a problem. */
export function nullMembers (value: unknown, problems: readonly Problem[], base: string): string[] {
  return [...new Set(problems.map(({ path }) => path.slice(base.length)))].filter((place) => isNullMember(value, tokensOf(place)))
}

/** The value without the members at these places; what is not changed is not copied. */
export function withoutMembers (value: unknown, places: readonly string[]): unknown {
  return places.reduce((left, place) => withoutMember(left, tokensOf(place)), value)
}

function tokensOf (place: string): string[] {
  return place.split('/').slice(1).map((token) => token.replaceAll('~1', '/').replaceAll('~0', '~'))
}

function isNullMember (value: unknown, [token, ...rest]: readonly string[]): boolean {
  if (token === undefined || typeof value !== 'object' || value === null || !Object.hasOwn(value, token)) return false
  const child = (value as Record<string, unknown>)[token]
  return rest.length === 0 ? child === null && isRecord(value) : isNullMember(child, rest)
}

function withoutMember (value: unknown, [token = '', ...rest]: readonly string[]): unknown {
  if (Array.isArray(value)) return value.with(Number(token), withoutMember(value[Number(token)], rest))
  if (!isRecord(value)) return value
  if (rest.length > 0) return { ...value, [token]: withoutMember(value[token], rest) }
  const { [token]: _, ...others } = value
  return others
}
