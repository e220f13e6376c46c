import { type Json, type JsonObject, vocabularies } from '@dispatch/common'
import { createRemembered } from './remembered.ts'
import { type FieldSchema, isList, isObject, kindOf, type SettingsForm } from './schema.ts'
import { maxRows } from './settings.ts'

/** A form for data, and the fields that only JSON can give: their schema is elsewhere, and the sample does not have them. */
export type DataForm = { form: SettingsForm, leftOut: readonly string[] }

/** How deep references are followed. A schema may refer to itself. */
const deepest = 6

/** The most fields of a form, of each list one line. A schema that refers to itself in many places has more than can be counted. */
const maxFields = 500

/** The most fields with all lines: what a page shows. */
const maxShown = 2000

/**
 * The form for data of a schema. Where that refers to a schema elsewhere, the sample says what stands there. Undefined where no form can
 * be made: there are no fields, or their names cannot be those of a form.
 */
export function dataForm (schema: JsonObject, sample: JsonObject): DataForm | undefined {
  return remembered([schema, sample], () => ({ made: formOf(schema, sample) })).made
}

const remembered = createRemembered<{ made: DataForm | undefined }>(50)

function formOf (schema: JsonObject, sample: JsonObject): DataForm | undefined {
  const within: Within = { root: schema, depth: 0, counted: { fields: 0 } }
  const read = readField(schema, sample, within)
  if (within.counted.fields > maxFields) return undefined
  const { properties = {}, required = [] } = read
  const named = Object.entries(properties)
  const known = named.filter(([, field]) => field.type !== undefined || kindOf(field) === 'choice')
  if (known.length === 0 || !hasPlainNames(read)) return undefined
  const leftOut = named.filter((entry) => !known.includes(entry)).map(([name]) => name)
  return { form: { properties: Object.fromEntries(known), required }, leftOut }
}

/** Names are joined by dots in a form. */
function hasPlainNames ({ properties = {}, items }: FieldSchema): boolean {
  return Object.entries(properties).every(([name, field]) => /^[\w-]+$/.test(name) && hasPlainNames(field)) &&
    (items === undefined || hasPlainNames(items))
}

/** `counted` is the same for all fields of a form. */
type Within = { root: JsonObject, depth: number, counted: { fields: number } }

function readField (schema: Json | undefined, sample: Json | undefined, { root, depth, counted }: Within): FieldSchema {
  if (++counted.fields > maxFields) return {}
  const found = followed(schema, { root, depth })
  const type = isPicture(found) ? undefined : typeOf(found, sample)
  const within = { root, depth: depth + 1, counted }
  const field = { ...textsOf(found), ...type === undefined ? {} : { type } }
  if (type === 'object' && depth < deepest) return { ...field, ...membersOf(found, objectOf(sample), within) }
  if (type !== 'array' || depth >= deepest) return field
  const items = readField(found['items'], isList(sample) ? together(sample) : undefined, within)
  return { ...field, items, ...kindOf(items) === 'group' ? { 'x-rows': true } : {} }
}

function membersOf (schema: JsonObject, sample: JsonObject, within: Within): Pick<FieldSchema, 'properties' | 'required'> {
  const { properties, required: demanded } = schema
  const declared = objectOf(properties)
  const required = isList(demanded) ? demanded.filter((name) => typeof name === 'string') : []
  // The database keeps the order of lists, not of properties.
  const names = [...new Set([...required, ...inUsualOrder([...Object.keys(declared), ...Object.keys(sample)])])]
  const read = (name: string): FieldSchema => ({ ...readField(declared[name], sample[name], within), 'x-data': name })
  return { properties: Object.fromEntries(names.map((name) => [name, read(name)])), required }
}

/** The names of the vocabularies, first those of people and of lines, in the order in which they are written there. */
const usualOrder: ReadonlyMap<string, number> = new Map([...new Set(vocabularies.flatMap(({ $defs, properties }) => {
  const namesOf = (schema: Json | undefined): string[] => Object.keys(objectOf(objectOf(schema)['properties']))
  const parts = objectOf($defs as Json)
  return [...namesOf(parts['party']), ...namesOf(parts['line']), ...Object.keys(objectOf(properties as Json))]
}))].map((name, index) => [name, index]))

/** Those that no vocabulary has come last. */
function inUsualOrder (names: readonly string[]): string[] {
  const rankOf = (name: string): number => usualOrder.get(name) ?? usualOrder.size
  return names.toSorted((a, b) => rankOf(a) - rankOf(b))
}

/** A schema with what its references within the same schema say. Keywords beside a reference go before it. */
function followed (schema: Json | undefined, { root, depth }: Pick<Within, 'root' | 'depth'>): JsonObject {
  const { $ref: reference, ...own } = objectOf(schema)
  if (typeof reference !== 'string' || !/^#(\/|$)/.test(reference) || depth > deepest) return own
  const target = reference.split('/').slice(1).reduce<Json | undefined>((place, step) => {
    const name = step.replaceAll('~1', '/').replaceAll('~0', '~')
    return Object.hasOwn(objectOf(place), name) ? objectOf(place)[name] : undefined
  }, root)
  return { ...followed(target, { root, depth: depth + 1 }), ...own }
}

/** Whether a field is a picture as a data URI, which nobody types: a brand has the logo, and JSON can give another one. */
function isPicture ({ pattern }: JsonObject): boolean {
  return typeof pattern === 'string' && pattern.startsWith('^data:image/')
}

/** The type of a field: as the schema says, or as its sample is, or the first of several. Undefined: nothing tells. */
function typeOf (schema: JsonObject, sample: Json | undefined): string | undefined {
  const declared = schema['type']
  if (typeof declared === 'string') return declared
  if (sample !== undefined && sample !== null) return isList(sample) ? 'array' : typeof sample
  const several = isList(declared) ? declared : []
  const alternatives = [schema['anyOf'], schema['oneOf']].flatMap((all) => isList(all) ? all : [])
  const types = [...several, ...alternatives.map((one) => objectOf(one)['type'])]
  return types.find((type): type is string => typeof type === 'string' && type !== 'null')
}

function textsOf (schema: JsonObject): FieldSchema {
  const { title, description, maxLength, enum: values } = schema
  return {
    ...typeof title === 'string' ? { title } : {},
    ...typeof description === 'string' ? { description } : {},
    ...typeof maxLength === 'number' ? { maxLength } : {},
    ...isList(values) ? { enum: values } : {}
  }
}

/** One item that has what any of them has. */
function together (items: readonly Json[]): Json | undefined {
  const [first] = items
  return first !== undefined && Object.keys(objectOf(first)).length > 0 ? Object.assign({}, ...items.map(objectOf)) as JsonObject : first
}

function objectOf (value: Json | undefined): JsonObject {
  return isObject(value) ? value : {}
}

/** Whether a form shows all of these data, so that none are lost in it, and is no longer than a page can be. */
export function fits (form: SettingsForm, data: JsonObject): boolean {
  return hasPlaceFor(form, data) && lengthOf(form, data) <= maxShown
}

function hasPlaceFor ({ properties = {} }: SettingsForm, data: JsonObject): boolean {
  return Object.entries(data).every(([name, value]) => {
    const field = Object.hasOwn(properties, name) ? properties[name] : undefined
    return field !== undefined && isShown(field, value)
  })
}

/** The number of fields with these data. */
function lengthOf ({ properties = {} }: SettingsForm, data: JsonObject): number {
  return Object.entries(properties).reduce((sum, [name, field]) => {
    const value = data[name]
    const lines = isList(value) && kindOf(field) === 'rows' ? value.length : 0
    return sum + 1 + lines * Object.keys(field.items?.properties ?? {}).length
  }, 0)
}

function isShown (field: FieldSchema, value: Json): boolean {
  const kind = kindOf(field)
  if (kind === 'group') return isObject(value) && hasPlaceFor(field, value)
  if (kind === 'rows') {
    return isList(value) && value.length <= maxRows && value.every((row) => isObject(row) && hasPlaceFor(field.items ?? {}, row))
  }
  if (kind === 'texts') return isList(value) && value.every((text) => typeof text === 'string' && !text.includes('\n'))
  return kind === 'json' || typeof value !== 'object'
}
