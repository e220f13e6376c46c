import { isRecord, oneLine } from '@dispatch/common'
import { isDeepStrictEqual } from 'node:util'

/** A part of an OpenAPI document: plain data. */
export type OpenApiObject = Readonly<Record<string, unknown>>

export type Kind = 'schemas' | 'responses' | 'headers' | 'parameters' | 'requestBodies' | 'examples' | 'pathItems'
/** What the document has once, by its name. */
export type Components = Record<Kind, Record<string, OpenApiObject>>

export function emptyComponents (): Components {
  return { schemas: {}, responses: {}, headers: {}, parameters: {}, requestBodies: {}, examples: {}, pathItems: {} }
}

/** Adds a component and answers the reference to it. Throws where another one has its name. */
export function addComponent (components: Components, kind: Kind, name: string, part: OpenApiObject): OpenApiObject {
  const known = components[kind][name] ??= part
  if (!isDeepStrictEqual(known, part)) throw new Error(`Two different ${kind} of the OpenAPI document are called "${name}".`)
  return { $ref: `#/components/${kind}/${name}` }
}

/** The words of a schema and of its surroundings whose values are data, not schemas. */
export const data = new Set(['example', 'examples', 'default', 'const', 'enum', 'value'])

/** What depends on a value of another field its description says: generated types cannot, and linters take it for a mistake. */
const conditions = new Set(['if', 'then', 'else'])

/** The part with a reference in the place of each schema that has a title: it becomes a component of that name. */
export function nameSchemas (part: unknown, components: Components): unknown {
  if (Array.isArray(part)) return part.map((item: unknown) => nameSchemas(item, components))
  if (!isRecord(part)) return part
  const { title, ...schema } = Object.fromEntries(
    Object.entries(part).filter(([key]) => !conditions.has(key)).map(
      ([key, value]) => [key, data.has(key) ? value : key === 'properties' ? nameEach(value, components) : nameSchemas(value, components)]
    )
  )
  if (typeof title !== 'string') return title === undefined ? onOneLine(schema, components) : { title, ...schema }
  return addComponent(components, 'schemas', title, onOneLine(mapped(part, schema), components))
}

const lineWords = Object.keys(oneLine).filter((word) => word !== 'description')

/** The rules for texts of one line are long and stand in many places: such texts refer to them. */
function onOneLine (schema: OpenApiObject, components: Components): OpenApiObject {
  const line: OpenApiObject = { type: 'string', ...oneLine }
  if (!lineWords.every((word) => isDeepStrictEqual(schema[word], line[word]))) return schema
  const own = Object.entries(schema).filter(([word, value]) => !isDeepStrictEqual(value, line[word]))
  return { allOf: [addComponent(components, 'schemas', 'OneLine', line)], ...Object.fromEntries(own) }
}

/** Fields may have the names of words. */
function nameEach (properties: unknown, components: Components): unknown {
  return isRecord(properties)
    ? Object.fromEntries(Object.entries(properties).map(([name, schema]) => [name, nameSchemas(schema, components)]))
    : properties
}

/** Says of a discriminator which of the named forms each of its values means. */
function mapped (part: OpenApiObject, schema: OpenApiObject): OpenApiObject {
  const { discriminator } = schema
  if (!isRecord(discriminator)) return schema
  const name = String(discriminator['propertyName'])
  const values = (part['oneOf'] as OpenApiObject[]).map(({ properties }) =>
    ((properties as OpenApiObject)[name] as OpenApiObject)['const'] as string
  )
  const references = (schema['oneOf'] as OpenApiObject[]).map(({ $ref }) => $ref)
  return {
    ...schema,
    discriminator: { ...discriminator, mapping: Object.fromEntries(values.map((value, index) => [value, references[index]])) }
  }
}
