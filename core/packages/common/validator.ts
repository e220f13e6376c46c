import type { Problem } from './json.ts'

/** Checks a value; an empty list means that the value fits. Paths are JSON pointers below `base`. */
export type Validator<T> = (value: unknown, base?: string) => Fit<T>
/**
 * The result of a check: the value with its type, or its problems. `nulls`: the places (JSON pointers into the value) of all nulls that the
 * schema does not permit, however many there are.
 */
export type Fit<T> = { ok: true, value: T } | { ok: false, problems: Problem[], nulls?: string[] }
