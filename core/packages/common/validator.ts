import type { Problem } from './json.ts'

/** Checks a value; an empty list means that the value fits. Paths are JSON pointers below `base`. */
export type Validator<T> = (value: unknown, base?: string) => Fit<T>
/** The result of a check: the value with its type, or its problems. */
export type Fit<T> = { ok: true, value: T } | { ok: false, problems: Problem[] }
