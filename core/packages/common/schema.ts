import { Ajv2020, type Options, type ValidateFunction } from 'ajv/dist/2020.js'
import type { Static, TSchema } from 'typebox'
import { createPattern, withBoundedPatterns } from './bounded-patterns.ts'
import { stringFormats } from './formats.ts'
import { inspectJson, isUnbounded } from './json.ts'
import { nullIsAbsence } from './nulls.ts'
import { problemsOf } from './problems.ts'
import type { Validator } from './validator.ts'
import { vocabularies } from './vocabulary.ts'

/** The compiler of the service's schemas: it reports all problems and removes nothing. */
export function createAjv (options: Options): Ajv2020 {
  const ajv = new Ajv2020({ ...common, ...options })
  for (const [name, check] of Object.entries(stringFormats)) ajv.addFormat(name, check)
  return ajv
}

const common: Options = {
  allErrors: true,
  // Ajv's pass over its own code takes two fifths of a compilation, and makes the code 8 % shorter.
  code: { optimize: false },
  verbose: true,
  addUsedSchema: false,
  strict: true,
  strictRequired: false,
  strictTypes: false,
  allowUnionTypes: true,
  validateFormats: true,
  keywords: ['x-secret', 'x-computed', 'x-destination', 'x-since', 'x-services', 'x-texts']
}

const ajv = createAjv({ discriminator: true, code: { ...common.code, regExp: createPattern } })
// Both are compiled at their first use.
ajv.addSchema([...vocabularies])
/** The texts of a URL or a header are converted to the types of the schema. */
const coercingAjv = createAjv({ coerceTypes: true, useDefaults: true })

/**
 * A check of values against a TypeBox schema, whose result carries the schema's type. The schema is compiled with the first value, because
 * all schemas of the service together would take a fifth of its start.
 */
export function compile<S extends TSchema> (schema: S): Validator<Static<S>> {
  return whenUsed(() => checkWith<Static<S>>(ajv.compile<Static<S>>(schema)))
}

/**
 * The same for values that arrive as text, such as the query of a URL. They are converted in place, and inspected after that, because
 * "Infinity" becomes an infinite number.
 */
export function compileQuery<S extends TSchema> (schema: S): Validator<Static<S>> {
  const check = whenUsed(() => checkWith<Static<S>>(coercingAjv.compile<Static<S>>(schema)))
  return (value, base = '') => {
    const fit = check(value, base)
    const found = fit.ok ? inspectJson(value, base) : []
    return found.length === 0 ? fit : { ok: false, problems: found }
  }
}

/**
 * Compiles a plain JSON Schema (2020-12), such as the data schema of a template. It may refer to the {@link vocabularies}. Throws for an
 * invalid schema.
 */
export function compileJsonSchema (schema: object): Validator<unknown> {
  return checkWith(ajv.compile(schema))
}

/** The same for a schema of somebody else, such as that of an adapter's settings: its patterns are bounded in time. */
export function compileOutsideSchema (schema: object): Validator<unknown> {
  return withBoundedPatterns(() => compileJsonSchema(schema))
}

/**
 * A check of a value from outside: first for forbidden content of any JSON, then with the schema, for which null is absence. A value beyond
 * the limits is not checked further. `maxItems`: of a list, where the schema lets one be longer than others.
 */
export function boundedValidator<T> (schemaCheck: Validator<T>, maxItems?: number): Validator<T> {
  const check = nullIsAbsence(schemaCheck)
  return (value, base = '') => {
    const found = inspectJson(value, base, undefined, maxItems)
    if (isUnbounded(found)) return { ok: false, problems: found }
    const fit = check(value, base)
    if (found.length === 0) return fit
    return { ok: false, problems: fit.ok ? found : [...found, ...fit.problems] }
  }
}

/** A check that is made with the first value. */
function whenUsed<T> (make: () => Validator<T>): Validator<T> {
  let made: Validator<T> | undefined
  return (value, base) => (made ??= make())(value, base)
}

/** The check that Ajv has compiled. */
export function checkWith<T> (validate: ValidateFunction<T>): Validator<T> {
  return (value, base = '') => {
    if (validate(value)) return { ok: true, value }
    const errors = validate.errors ?? []
    const nulls = new Set(errors.filter(({ data }) => data === null).map(({ instancePath }) => instancePath))
    return { ok: false, problems: problemsOf(errors, base), ...(nulls.size === 0 ? {} : { nulls: [...nulls] }) }
  }
}
