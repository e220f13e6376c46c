import addFormats from 'ajv-formats'
import { Ajv2020, type Options, type ValidateFunction } from 'ajv/dist/2020.js'
import type { Static, TSchema } from 'typebox'
import { inspectJson, isUnbounded, type Problem } from './json.ts'
import { isMailbox, isPlainAddress } from './mailbox.ts'
import { isRsaKey } from './private-key.ts'
import { problemsOf } from './problems.ts'
import { uuidPattern } from './uuid.ts'
import { vocabularies } from './vocabulary.ts'

/** Checks a value; an empty list means that the value fits. Paths are JSON pointers below `base`. */
export type Validator<T> = (value: unknown, base?: string) => Fit<T>
/** The result of a check: the value with its type, or its problems. */
export type Fit<T> = { ok: true, value: T } | { ok: false, problems: Problem[] }

const isDate = formatCheck('date')
const isRfcTime = formatCheck('date-time')
/**
 * RFC 3339 permits leap seconds, and ajv-formats permits shorter offsets. Both are refused, because every time becomes a `Date`, which
 * reads neither.
 */
const isDateTime = (text: string): boolean => isRfcTime(text) && !Number.isNaN(Date.parse(text))

/** Stricter than the URL parser, which permits white space and a user name. */
const httpsUrl = /^https:\/\/[^\s/?#@]+(?:[/?#]\S*)?$/

/** The compiler of the service's schemas: it reports all problems and removes nothing. */
export function createAjv (options: Options): Ajv2020 {
  const ajv = new Ajv2020({ ...common, ...options })
  addFormats.default(ajv, ['date', 'email', 'uri', 'uri-reference', 'time'])
  ajv.addFormat('date-time', isDateTime)
  ajv.addFormat('iso-8601', (text) => isDate(text) || isDateTime(text))
  ajv.addFormat('mailbox', isMailbox)
  ajv.addFormat('mail-address', isPlainAddress)
  ajv.addFormat('rsa-private-key', isRsaKey)
  ajv.addFormat('mailbox-or-none', (text) => text === '' || isMailbox(text))
  ajv.addFormat('https-url', (text) => httpsUrl.test(text) && URL.canParse(text))
  ajv.addFormat('time-zone', isTimeZone)
  // Without the "urn:uuid:" that ajv-formats allows and PostgreSQL does not.
  ajv.addFormat('uuid', uuidPattern)
  return ajv
}

/** The name of a time zone in the IANA database of the runtime. */
function isTimeZone (text: string): boolean {
  try {
    return /^[A-Za-z]/.test(text) && new Intl.DateTimeFormat('en', { timeZone: text }).resolvedOptions().timeZone !== ''
  } catch {
    return false
  }
}

const common: Options = {
  allErrors: true,
  verbose: true,
  addUsedSchema: false,
  strict: true,
  strictRequired: false,
  strictTypes: false,
  allowUnionTypes: true,
  validateFormats: true,
  keywords: ['x-secret', 'x-computed', 'x-destination', 'x-since']
}

const ajv = createAjv({ discriminator: true })
// Both are compiled at their first use.
ajv.addSchema([...vocabularies])
/** The texts of a URL or a header are converted to the types of the schema. */
const coercingAjv = createAjv({ coerceTypes: true, useDefaults: true })

function formatCheck (name: 'date' | 'date-time'): (text: string) => boolean {
  const check = addFormats.default.get(name)
  if (typeof check === 'object' && 'validate' in check && typeof check.validate === 'function') {
    return check.validate as (text: string) => boolean
  }
  throw new Error(`ajv-formats no longer has the format ${name}.`)
}

/** Compiles a TypeBox schema into a check whose result carries the schema's type. */
export function compile<S extends TSchema> (schema: S): Validator<Static<S>> {
  return checkWith<Static<S>>(ajv.compile<Static<S>>(schema))
}

/**
 * Compiles a schema for values that arrive as text, such as the query of a URL. They are converted in place, and inspected after that,
 * because "Infinity" becomes an infinite number.
 */
export function compileQuery<S extends TSchema> (schema: S): Validator<Static<S>> {
  const check = checkWith<Static<S>>(coercingAjv.compile<Static<S>>(schema))
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

/**
 * A check of a value from outside: first for forbidden content of any JSON, then with the schema. A value beyond the limits is not checked
 * further.
 */
export function boundedValidator<T> (check: Validator<T>): Validator<T> {
  return (value, base = '') => {
    const found = inspectJson(value, base)
    if (isUnbounded(found)) return { ok: false, problems: found }
    const fit = check(value, base)
    if (found.length === 0) return fit
    return { ok: false, problems: fit.ok ? found : [...found, ...fit.problems] }
  }
}

/** The check that Ajv has compiled. */
export function checkWith<T> (validate: ValidateFunction<T>): Validator<T> {
  return (value, base = '') => validate(value) ? { ok: true, value } : { ok: false, problems: problemsOf(validate.errors ?? [], base) }
}
