import type { Json, JsonObject } from '@dispatch/common'

/** What a field, or one of its choices, says of itself. */
export type Texts = {
  title?: string
  description?: string
  /** The title and the description in other languages. */
  'x-texts'?: Readonly<Record<string, { title?: string, description?: string }>>
}

/** A field of a form's schema, as far as a form needs it (JSON Schema). */
export type FieldSchema = Texts & {
  type?: unknown
  enum?: readonly Json[]
  anyOf?: readonly (Texts & { const?: Json })[]
  examples?: readonly Json[]
  items?: FieldSchema
  properties?: Readonly<Record<string, FieldSchema>>
  required?: readonly string[]
  maxLength?: number
  default?: Json
  'x-secret'?: true
  /** Its texts are the console's own words for a field of this name. */
  'x-words'?: string
  /** Without a title it is called as data of this name usually are. */
  'x-data'?: string
  /** Its value follows from others: it is shown, and not typed. */
  'x-computed'?: true
  /** A list of flat objects that stands in the form line by line. */
  'x-rows'?: true
}

/** The schema of a provider's settings. */
export type SettingsForm = { properties?: Readonly<Record<string, FieldSchema>>, required?: readonly string[] }

/** A form in which some fields are computed: each by its name, those of the items of a list behind that of the list. */
export function withComputed (form: SettingsForm, names: readonly string[]): SettingsForm {
  const fields = form.properties ?? {}
  const properties = Object.fromEntries(Object.entries(fields).map(([name, field]): [string, FieldSchema] => {
    const within = names.filter((one) => one.startsWith(`${name}.`)).map((one) => one.slice(name.length + 1))
    if (within.length > 0 && field.items !== undefined) {
      return [name, { ...field, items: { ...field.items, ...withComputed(field.items, within) } }]
    }
    return [name, names.includes(name) && kindOf(field) !== 'rows' ? { ...field, 'x-computed': true } : field]
  }))
  return { ...form, properties }
}

export type Kind = 'secret' | 'choice' | 'flag' | 'number' | 'texts' | 'group' | 'rows' | 'json' | 'text'

/** How a field stands in a form; `json`: too deep for one. */
export function kindOf (schema: FieldSchema): Kind {
  if (schema['x-secret'] === true) return 'secret'
  if (choicesOf(schema) !== undefined) return 'choice'
  if (schema.type === 'boolean') return 'flag'
  if (schema.type === 'integer' || schema.type === 'number') return 'number'
  if (schema['x-rows'] === true) return 'rows'
  if (schema.type === 'array') return schema.items?.type === 'string' ? 'texts' : 'json'
  if (schema.type === 'object') return isFlat(schema) ? 'group' : 'json'
  return schema.type === 'string' ? 'text' : 'json'
}

/** Whether an object has simple fields only, so that they can stand in the form themselves. */
function isFlat ({ properties = {} }: FieldSchema): boolean {
  const kinds = Object.values(properties).map(kindOf)
  return kinds.length > 0 && kinds.every((kind) => kind !== 'group' && kind !== 'rows' && kind !== 'json')
}

/** The values of a field that is one of a few. */
export function choicesOf ({ enum: values, anyOf = [] }: FieldSchema): readonly Json[] | undefined {
  if (values !== undefined) return values
  const literals = anyOf.flatMap(({ const: literal }) => literal === undefined ? [] : [literal])
  return literals.length > 0 && literals.length === anyOf.length ? literals : undefined
}

export function isObject (value: Json | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

export function isList (value: Json | undefined): value is readonly Json[] {
  return Array.isArray(value)
}
