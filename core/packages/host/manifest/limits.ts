import { at as valueAt, compileOutsideSchema, errorMessageOf, isRecord, type Json, type JsonObject, placesAt, pointer,
  type Problem } from '@dispatch/common'
import { AnyJson } from '@dispatch/contract'
import { type Static, type TSchema, Type } from 'typebox'

/**
 * A vendor's limit for one place of the request that the verb `dispatch` gets. `at` is a JSON pointer into the request
 * (`/postal/recipient/name`, `/data/number`) or into the client's `settings` (`/settings/label`); `*` stands for every item of a list and
 * every field of an object. The value there must fit the JSON Schema `fits`; with `false`, no value may stand there. A missing value does
 * not break a limit. `when`: the limit applies only if the values at these pointers fit. `because`: a sentence for people.
 */
export type Limit = { at: string, fits: TSchema | false, when?: Readonly<Record<string, TSchema>>, because?: string }

const pattern = '^(/[^/]+)+$'
const description = 'a JSON pointer into the request, such as "/data/number"'

/** Limits in the form of a manifest. */
export const ManifestLimits = Type.Array(Type.Object({
  at: Type.String({ pattern, description }),
  fits: AnyJson,
  when: Type.Optional(Type.Record(Type.String({ pattern }), AnyJson)),
  because: Type.Optional(Type.String({ minLength: 1, maxLength: 300 }))
}, { additionalProperties: false }))
export type ManifestLimits = Static<typeof ManifestLimits>

/** Problems of limits beyond their shape: invalid schemas. Paths begin with `base`. */
export function limitFaults (limits: ManifestLimits, base: string): Problem[] {
  return limits.flatMap(({ fits, when = {} }, index) => [
    ...invalidSchemaProblems(fits, `${base}/${index}/fits`),
    ...schemaFaults(when, `${base}/${index}/when`)
  ])
}

/** The schemas of a condition that are none. */
export function schemaFaults (when: Readonly<Record<string, Json>>, base: string): Problem[] {
  return Object.entries(when).flatMap(([place, schema]) => invalidSchemaProblems(schema, pointer(base, place)))
}

/** The reasons why a value is not a JSON Schema. */
function invalidSchemaProblems (schema: Json, path: string): Problem[] {
  try {
    compileOutsideSchema(schemaOf(schema))
    return []
  } catch (cause) {
    return [{ path, code: 'schema', message: `Not a JSON Schema: ${errorMessageOf(cause)}` }]
  }
}

/** The limits that a request breaks, each with its place in the request. */
export function breaches (limits: ManifestLimits, requested: JsonObject): Problem[] {
  return limits.filter((limit) => isMeant(limit, requested)).flatMap(({ at, fits, because }) =>
    placesAt(requested, at).flatMap(({ path, value }) => {
      const fit = fits === false
        ? { ok: false as const, problems: [{ path, code: 'not_taken', message: 'Leave it out.' }] }
        : compileOutsideSchema(schemaOf(fits))(value, path)
      return fit.ok
        ? []
        : fit.problems.map((problem) => because === undefined ? problem : { ...problem, message: `${problem.message} ${because}` })
    })
  )
}

/** Whether the values at the pointers of a condition fit; with `false`, whether none stands there. */
export function isMeant ({ when = {} }: { when?: Readonly<Record<string, Json>> | undefined }, requested: JsonObject): boolean {
  return Object.entries(when).every(([place, schema]) => {
    const value = valueAt(requested, place)
    return schema === false ? value === undefined : value !== undefined && compileOutsideSchema(schemaOf(schema))(value).ok
  })
}

/** Ajv caches compiled schemas by object, so the limits of a manifest are compiled once. */
function schemaOf (schema: Json): object {
  if (typeof schema === 'object' && schema !== null) return schema
  return schema === false ? nothing : {}
}

const nothing = { not: {} }

/** A limit for a person: "/data/number: at most 30 characters (/invoicing/documentType: INVOICE)". */
export function limitInWords ({ at, fits, when = {} }: ManifestLimits[number]): string {
  const only = Object.entries(when).map(([place, schema]) => `${place}: ${schemaInWords(schema)}`)
  return `${at}: ${schemaInWords(fits)}${only.length === 0 ? '' : ` (${only.join(', ')})`}`
}

type Words = Readonly<Record<string, ((value: Json) => string) | undefined>>

const words: Words = {
  maxLength: (max) => `at most ${shown(max)} characters`,
  minLength: (least) => `at least ${shown(least)} characters`,
  maxItems: (max) => `at most ${shown(max)} items`,
  minItems: (least) => `at least ${shown(least)} items`,
  maximum: (max) => `at most ${shown(max)}`,
  minimum: (least) => `at least ${shown(least)}`,
  const: shown,
  enum: (values) => Array.isArray(values) ? values.map(shown).join(' or ') : shown(values),
  pattern: (text) => `as ${shown(text)}`
}

function schemaInWords (schema: Json): string {
  if (!isRecord(schema)) return schema === false ? 'not taken' : 'anything'
  const { description, ...keywords } = schema
  if (typeof description === 'string') return description
  return Object.entries(keywords).flatMap(([keyword, value]) => words[keyword]?.(value) ?? []).join(', ') || 'as its schema says'
}

/** One for all numbers: `toLocaleString` looks its language up each time, which takes twelve times as long. */
const inEnglish = new Intl.NumberFormat('en')

function shown (value: Json): string {
  return typeof value === 'string' ? value : typeof value === 'number' ? inEnglish.format(value) : JSON.stringify(value)
}
