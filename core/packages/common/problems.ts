import type { ErrorObject } from 'ajv'
import { distance } from 'fastest-levenshtein'
import { pointer, type Problem } from './json.ts'
import { isRecord } from './records.ts'

/** The most errors that become problems: an answer has no room for more. */
const maxProblems = 101

/**
 * Turns Ajv's errors (run with `verbose`) into problems: one sentence for each, with the place of the fault. There may be a hundred
 * thousand errors, so none is compared with all others.
 */
export function problemsOf (errors: readonly ErrorObject[], base = ''): Problem[] {
  const unions = errors.filter(({ keyword }) => keyword === 'anyOf')
  const isWhole = ({ schema, parentSchema }: ErrorObject): boolean =>
    !isNullable(schema) && (literalsOf(schema) !== undefined || helpOf(parentSchema) !== undefined)
  const reported = Map.groupBy(unions, ({ instancePath }) => instancePath)
  const isReported = (error: ErrorObject): boolean =>
    isNullable(error.schema) && error.keyword === 'anyOf' ||
    (reported.get(error.instancePath)?.some((union) =>
      isBranch(error, union) && (isWhole(union) || isNullable(union.schema) && error.params['type'] === 'null')
    ) ?? false)
  const unfit = unfitIn(errors.filter(({ keyword }) => !(keyword in composites)), isWhole)
  const isNew = createMissing()
  const paths = new Set<string>()
  // One problem a field is enough: a second one of the same value hardly ever says more.
  return errors.values().filter((error) => isNew(error) && !(error.keyword in composites) && !isReported(error) && !unfit.has(error))
    .map((error) => problemOf(error, base)).filter(({ path }) => !paths.has(path) && paths.add(path).size > 0).take(maxProblems)
    .toArray()
}

/**
 * Of a value that is meant as one of several forms, what is wrong with the other forms, and that it fits none. Meant is the form with the
 * fewest errors of the value itself: of fields that are missing or unknown. Where several forms have as few, all errors count.
 */
function unfitIn (errors: readonly ErrorObject[], isWhole: (union: ErrorObject) => boolean): Set<ErrorObject> {
  const unfit = new Set<ErrorObject>()
  for (const [at, union] of errors.entries()) {
    if (union.keyword !== 'anyOf' || !Array.isArray(union.schema) || isNullable(union.schema) || isWhole(union)) continue
    // The errors of its forms stand right before it.
    let begin = at
    for (let before = errors[begin - 1]; before !== undefined && isBranch(before, union); before = errors[begin - 1]) begin--
    const forms = Map.groupBy(errors.slice(begin, at), ({ schemaPath }) => schemaPath.slice(union.schemaPath.length + 1).split('/', 1)[0])
    const faults = [...forms].map(([form, of]) => ({ form, own: ownFaults(of, union) })).sort((one, other) => one.own - other.own)
    const [meant, next] = faults
    if (forms.size !== union.schema.length || meant === undefined || next === undefined || meant.own === next.own) continue
    unfit.add(union)
    for (const [form, of] of forms) if (form !== meant.form) { for (const error of of) unfit.add(error) }
  }
  return unfit
}

/** How many errors a form has of the value itself; endless where it is of another type. */
function ownFaults (errors: readonly ErrorObject[], { instancePath: place }: ErrorObject): number {
  const own = errors.filter(({ instancePath, keyword }) => instancePath === place || keyword === 'const')
  return own.some(({ instancePath, keyword }) => instancePath === place && keyword === 'type') ? Infinity : own.length
}

/** Whether an error is about one of several permitted forms. The sentence about all forms, of the same place, says it better. */
function isBranch (error: ErrorObject, whole: ErrorObject): boolean {
  return error.schemaPath.startsWith(`${whole.schemaPath}/`)
}

/** Whether one form and null are permitted: what is wrong with a value is then what that form says. */
function isNullable (forms: unknown): boolean {
  return Array.isArray(forms) && forms.length === 2 && forms.some((form) => isRecord(form) && form['type'] === 'null')
}

/** Several fields may require the same missing field: whether this is the first error that says so. */
function createMissing (): (error: ErrorObject) => boolean {
  const missing = new Set<string>()
  return ({ keyword, instancePath, params }) => {
    if (keyword !== 'dependentRequired') return true
    const known = missing.size
    return missing.add(pointer(instancePath, text(params, 'missingProperty'))).size > known
  }
}

/** Keywords whose errors only repeat that an inner problem exists. */
const composites: Record<string, true> = { discriminator: true, if: true, propertyNames: true }

function problemOf (error: ErrorObject, base: string): Problem {
  const { code, message, at } = (sentences[error.keyword] ?? fallback)(error)
  const path = base + error.instancePath
  if (error.propertyName !== undefined) {
    return {
      path: pointer(path, error.propertyName.slice(0, 60)),
      code: `key_${code}`,
      message: `The key "${error.propertyName.slice(0, 60)}": ${message}`
    }
  }
  return { path: at === undefined ? path : pointer(path, at), code, message }
}

type Reading = { code: string, message: string, at?: string }
type Params = Record<string, unknown>

const sentences: Record<string, (error: ErrorObject) => Reading> = {
  required: ({ params }) => ({
    code: 'required',
    at: text(params, 'missingProperty'),
    message: `The field "${text(params, 'missingProperty')}" is required.`
  }),
  dependentRequired: ({ params }) => ({
    code: 'required',
    at: text(params, 'missingProperty'),
    message: `The field "${text(params, 'missingProperty')}" is required where "${text(params, 'property')}" is given.`
  }),
  additionalProperties: (error) => unknownField(error, text(error.params, 'additionalProperty')),
  unevaluatedProperties: (error) => unknownField(error, text(error.params, 'unevaluatedProperty')),
  type: ({ params, data }) => ({ code: 'type', message: `Expected ${words(params['type'])}, got ${kindOf(data)}.${capitalsIn(data)}` }),
  enum: ({ params, data }) => oneOfThem(params['allowedValues'], data),
  const: ({ params }) => ({ code: 'const', message: `Expected ${JSON.stringify(params['allowedValue'])}.` }),
  format: ({ params, data }) => ({
    code: 'format',
    message: `Not a valid ${formatNames[text(params, 'format')] ?? text(params, 'format')}.${severalIn(data, text(params, 'format'))}`
  }),
  pattern: ({ params, parentSchema, data }) => ({
    code: 'pattern',
    message: `${helpOf(parentSchema) ?? `Does not match the pattern ${text(params, 'pattern')}.`}${commaIn(data)}${
      numberIn(data, parentSchema)
    }`
  }),
  not: ({ schema, parentSchema }) => ({
    code: isRecord(schema) && 'pattern' in schema ? 'pattern' : 'not',
    message: helpOf(parentSchema) ?? 'Is not allowed.'
  }),
  minLength: ({ params }) => ({
    code: 'too_short',
    message: limit(params) === 1 ? 'Must not be empty.' : `Needs at least ${limit(params)} characters.`
  }),
  maxLength: ({ params }) => ({ code: 'too_long', message: `May have at most ${limit(params)} characters.` }),
  minItems: ({ params }) => ({
    code: 'too_few',
    message: limit(params) === 1 ? 'Must not be empty.' : `Needs at least ${limit(params)} items.`
  }),
  maxItems: ({ params }) => ({ code: 'too_many', message: `May have at most ${limit(params)} items.` }),
  minProperties: ({ params }) => ({ code: 'too_few', message: `Needs at least ${limit(params)} fields.` }),
  maxProperties: ({ params }) => ({ code: 'too_many', message: `May have at most ${limit(params)} fields.` }),
  minimum: ({ params }) => ({ code: 'too_small', message: `Must be at least ${limit(params)}.` }),
  maximum: ({ params }) => ({ code: 'too_large', message: `Must be at most ${limit(params)}.` }),
  exclusiveMinimum: ({ params }) => ({ code: 'too_small', message: `Must be more than ${limit(params)}.` }),
  exclusiveMaximum: ({ params }) => ({ code: 'too_large', message: `Must be less than ${limit(params)}.` }),
  uniqueItems: () => ({ code: 'duplicate', message: 'Two items are the same.' }),
  anyOf: ({ schema, parentSchema, data }) => {
    const literals = literalsOf(schema)
    return literals === undefined
      ? { code: 'type', message: `${helpOf(parentSchema) ?? 'Fits none of the allowed forms.'}${commaIn(data)}` }
      : oneOfThem(literals, data)
  },
  oneOf: ({ parentSchema }) => ({ code: 'type', message: helpOf(parentSchema) ?? 'Must fit exactly one of the allowed forms.' })
}

/** The values of the forms, where each is one value with its title. */
function literalsOf (forms: unknown): unknown[] | undefined {
  return Array.isArray(forms) && forms.every((form) => isRecord(form) && 'const' in form)
    ? forms.map((form: Record<string, unknown>) => form['const'])
    : undefined
}

function oneOfThem (values: unknown, data: unknown): Reading {
  return { code: 'enum', message: `Expected one of ${list(values)}${nearestOf(data, values)}.` }
}

const formatNames: Record<string, string> = {
  date: 'date (YYYY-MM-DD)',
  day: 'day (YYYY-MM-DD), alone or with a time',
  'iso-8601': 'ISO 8601 date or time (for example 2026-03-14)',
  'date-time': 'time (RFC 3339, for example 2026-03-14T09:30:00Z)',
  email: 'e-mail address',
  mailbox: 'e-mail address, such as ada@example.com or Ada Lovelace <ada@example.com>',
  'mailbox-or-none': 'e-mail address, such as ada@example.com or Ada Lovelace <ada@example.com>',
  'https-url': 'https:// URL (one without user name and password)',
  'time-zone': 'name of a time zone, such as Europe/Paris',
  'mail-address': 'e-mail address, such as ada@example.com',
  'mail-sender': 'sender: write an e-mail address, such as ada@example.com, or @example.com for everybody there',
  'rsa-private-key': 'private RSA key in PEM (of 1024 bits or more, without a passphrase)',
  uri: 'URL',
  uuid: 'UUID'
}

/** `True` and `False`, as Python and C# write them. */
function capitalsIn (data: unknown): string {
  const word = typeof data === 'string' ? data.toLowerCase() : ''
  return data !== word && ['true', 'false'].includes(word) ? ` Write it in small letters: ${word}.` : ''
}

/** A number in the notation of many countries: `12,50`, `1.234,50`. */
function commaIn (data: unknown): string {
  return typeof data === 'string' && /^-?\d[\d.' ]*,\d+$/.test(data) ? ' Its decimals follow a point, not a comma.' : ''
}

/** A phone number as people write it: with spaces, brackets or strokes, or with 00 for the plus. */
function numberIn (data: unknown, schema: unknown): string {
  if (typeof data !== 'string' || !isRecord(schema) || schema['title'] !== 'PhoneNumber') return ''
  const meant = data.replace('(0)', '').replaceAll(/[\s().\p{Pd}/]/gu, '').replace(/^00|^＋/, '+')
  return /^\+[1-9]\d{6,14}$/.test(meant) ? ` Did you mean ${meant}?` : ''
}

/** Several e-mail addresses in one text. */
function severalIn (data: unknown, format: string): string {
  return format.startsWith('mailbox') && typeof data === 'string' && /@[^@]*[,;][^@]*@/.test(data)
    ? ' Several addresses are an array of texts.'
    : ''
}

function fallback (error: ErrorObject): Reading {
  return { code: error.keyword, message: `Is not valid: ${error.message ?? error.keyword}.` }
}

function unknownField ({ parentSchema }: ErrorObject, name: string): Reading {
  const schema: unknown = parentSchema
  const properties = isRecord(schema) ? schema['properties'] : undefined
  const known = isRecord(properties) ? Object.keys(properties) : []
  return { code: 'unknown_field', at: name, message: `Unknown field "${name.slice(0, 50)}"${didYouMean(name, known)}.` }
}

/** Two slips at most; of a word below five letters, one. */
const slipsIn = (word: string): number => word.length < 5 ? 1 : 2

/** ` (did you mean "x"?)` with the nearest known word, or an empty text when no word is near. */
export function didYouMean (word: string, known: readonly string[]): string {
  if (word.length > 50) return ''
  const given = word.toLowerCase()
  const slips = (name: string): number => areSwapped(given, name.toLowerCase()) ? 1 : distance(given, name.toLowerCase())
  const nearest = known.map((name) => ({ name, slips: slips(name) })).reduce<{ name: string, slips: number } | undefined>(
    (best, one) => best === undefined || one.slips < best.slips ? one : best,
    undefined
  )
  // A word that shares no letter with the text is not a typing mistake.
  const isNear = nearest !== undefined && nearest.slips <= slipsIn(word) && (nearest.slips === 0 || nearest.slips < word.length)
  return isNear ? ` (did you mean "${nearest.name}"?)` : ''
}

/** Whether two words differ by two neighbours that have changed places: `nmae` and `name`. */
function areSwapped (one: string, other: string): boolean {
  const first = one.split('').findIndex((_, place) => one[place] !== other[place])
  return first >= 0 && `${one.slice(0, first)}${one.charAt(first + 1)}${one.charAt(first)}${one.slice(first + 2)}` === other
}

function nearestOf (data: unknown, allowed: unknown): string {
  return typeof data === 'string' && Array.isArray(allowed) ? didYouMean(data, allowed.filter((value) => typeof value === 'string')) : ''
}

function helpOf (schema: unknown): string | undefined {
  return isRecord(schema) && typeof schema['description'] === 'string'
    ? `Expected: ${schema['description'].replace(/\.$/, '')}.`
    : undefined
}

function text (params: Params, name: string): string {
  const value = params[name]
  return typeof value === 'string' ? value : ''
}

function limit (params: Params): number {
  return Number(params['limit'])
}

function list (values: unknown): string {
  return Array.isArray(values) ? values.map((value) => JSON.stringify(value)).join(', ') : ''
}

function words (types: unknown): string {
  const all: readonly unknown[] = Array.isArray(types) ? types : [types]
  return all.map((type) => type === 'boolean' ? 'true or false' : String(type)).join(' or ')
}

function kindOf (data: unknown): string {
  if (data === null) return 'null'
  if (typeof data === 'number' && !Number.isInteger(data)) return 'a number with a fraction'
  return Array.isArray(data) ? 'array' : typeof data
}
