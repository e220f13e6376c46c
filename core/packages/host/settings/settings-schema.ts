import { compileOutsideSchema, errorMessageOf, type JsonObject, memoizeByIdentity, pointer, type Problem } from '@dispatch/common'
import { AnyJson, ApiVersion, isSince, type Version } from '@dispatch/contract'
import { serviceNames } from '@dispatch/services'
import { isDeepStrictEqual } from 'node:util'
import { type Static, Type } from 'typebox'

/** The title and the description of a field, or of one of its choices, in other languages than English, by their codes (ISO 639-1). */
const Texts = Type.Record(
  Type.String({ pattern: '^[a-z]{2}$' }),
  Type.Object({
    title: Type.String({ minLength: 1, maxLength: 100 }),
    description: Type.Optional(Type.String({ minLength: 1, maxLength: 1000 }))
  }, { additionalProperties: false }),
  { additionalProperties: false }
)

/** One of the values that a field may have. */
const Choice = Type.Object({
  title: Type.Optional(Type.String()),
  description: Type.Optional(Type.String()),
  'x-texts': Type.Optional(Texts)
})

/** A field of a settings schema; its further keywords are JSON Schema. */
const Field = Type.Object({
  type: Type.Optional(AnyJson),
  title: Type.Optional(Type.String()),
  description: Type.Optional(Type.String()),
  'x-secret': Type.Optional(Type.Literal(true)),
  'x-computed': Type.Optional(Type.Literal(true)),
  'x-destination': Type.Optional(Type.Literal(true)),
  'x-since': Type.Optional(ApiVersion),
  'x-services': Type.Optional(Type.Array(Type.Enum([...serviceNames]), {
    minItems: 1,
    description: 'The services whose requests may give the field; all services of the provider unless told.'
  })),
  'x-texts': Type.Optional(Texts),
  anyOf: Type.Optional(Type.Array(Choice))
})

/**
 * The JSON Schema (2020-12) of a provider's settings, or of its request settings: an object that permits only the named fields, so that a
 * form can be built from it.
 */
export const SettingsSchema = Type.Object({
  type: Type.Literal('object'),
  properties: Type.Record(Type.String(), Field),
  required: Type.Optional(Type.Array(Type.String())),
  additionalProperties: Type.Literal(false),
  $id: Type.Optional(Type.Never({ description: 'no "$id": the name would be taken when the provider is reloaded' }))
})
export type SettingsSchema = Static<typeof SettingsSchema>

/**
 * A settings schema in a version of the API: without the fields that were added later. The result is cached, because compiled checks are
 * cached by the schema's object.
 */
export function settingsSchemaIn (form: SettingsSchema, version: Version): SettingsSchema {
  const known = versionsOf(form)
  const made = known.get(version) ?? withFields(form, ({ 'x-since': since }) => isSince(since, version))
  known.set(version, made)
  return made
}

const versionsOf = memoizeByIdentity<SettingsSchema, Map<Version, SettingsSchema>>(() => new Map())

function withFields (form: SettingsSchema, isKept: (field: Static<typeof Field>) => boolean): SettingsSchema {
  const kept = Object.entries(form.properties).filter(([, field]) => isKept(field))
  if (kept.length === Object.keys(form.properties).length) return form
  const names = kept.map(([name]) => name)
  return {
    ...form,
    properties: Object.fromEntries(kept),
    ...form.required === undefined ? {} : { required: form.required.filter((name) => names.includes(name)) }
  }
}

/** The names of the secret fields. */
export function secretNames (form: SettingsSchema): string[] {
  return Object.keys(form.properties).filter((name) => form.properties[name]?.['x-secret'] === true)
}

/** The names of the secret fields that a provider computes with, and so needs itself wherever it runs. */
export function computedNames (form: SettingsSchema): string[] {
  return secretNames(form).filter((name) => form.properties[name]?.['x-computed'] === true)
}

/** The names of the fields that hold a destination of requests. */
export function destinationNames (form: SettingsSchema): string[] {
  return Object.keys(form.properties).filter((name) => form.properties[name]?.['x-destination'] === true)
}

/** The fields by which requests go elsewhere than before. */
export function changedDestinations (form: SettingsSchema, before: JsonObject, after: JsonObject): string[] {
  return destinationNames(form).filter((name) => !isDeepStrictEqual(before[name], after[name]))
}

/** The problems of a request settings schema. Request settings are stored in clear text with the dispatch, so they may hold no secret. */
export function requestSettingsSchemaProblems (form: SettingsSchema, base: string): Problem[] {
  const secrets = secretNames(form).map((name): Problem => ({
    path: pointer(`${base}/properties`, name),
    code: 'secret',
    message: 'A secret belongs in the settings of a configuration, which are encrypted, not in those of a request.'
  }))
  return [...settingsSchemaProblems(form, base), ...secrets]
}

/** The problems of a settings schema beyond its shape. Paths begin with `base`. */
export function settingsSchemaProblems (form: SettingsSchema, base: string): Problem[] {
  const fields = Object.entries(form.properties).flatMap(([name, field]) => fieldProblems(field, pointer(`${base}/properties`, name)))
  return [...fields, ...schemaProblems(form, base)]
}

function fieldProblems (
  { 'x-secret': secret, 'x-computed': computed, 'x-destination': destination, ...field }: Static<typeof Field>,
  path: string
): Problem[] {
  const problems: Problem[] = []
  if (computed === true && secret !== true) {
    problems.push({ path, code: 'not_secret', message: 'Only a secret says "x-computed": every other setting is given as it is.' })
  }
  if ((secret ?? destination) === true && field.type !== 'string') {
    problems.push({ path, code: 'type', message: 'A secret or a destination must be a string.' })
  }
  if (/"x-(secret|destination)":/.test(JSON.stringify(field))) {
    problems.push({
      path,
      code: 'nested',
      message: 'A secret or a destination must be a field of the settings themselves, not of an inner object.'
    })
  }
  return problems
}

function schemaProblems (form: SettingsSchema, path: string): Problem[] {
  try {
    compileOutsideSchema(form)
    return []
  } catch (cause) {
    return [{ path, code: 'schema', message: `Not a JSON Schema: ${errorMessageOf(cause)}` }]
  }
}
