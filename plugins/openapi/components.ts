import { isRecord } from '@dispatch/common'
import { isDeepStrictEqual } from 'node:util'

/** A part of an OpenAPI document: plain data. */
export type OpenApiObject = Readonly<Record<string, unknown>>

type Kind = 'schemas' | 'responses' | 'headers' | 'parameters' | 'requestBodies'
/** What the document has once, by its name. */
export type Components = Record<Kind, Record<string, OpenApiObject>>

export function emptyComponents (): Components {
  return { schemas: {}, responses: {}, headers: {}, parameters: {}, requestBodies: {} }
}

/** Adds a component and answers the reference to it. Throws where another one has its name. */
export function addComponent (components: Components, kind: Kind, name: string, part: OpenApiObject): OpenApiObject {
  const known = components[kind][name] ??= part
  if (!isDeepStrictEqual(known, part)) throw new Error(`Two different ${kind} of the OpenAPI document are called "${name}".`)
  return { $ref: `#/components/${kind}/${name}` }
}

/** The words of a schema and of its surroundings whose values are data, not schemas. */
const data = new Set(['example', 'examples', 'default', 'const', 'enum', 'value'])

/** The part with a reference in the place of each schema that has a title: it becomes a component of that name. */
export function nameSchemas (part: unknown, components: Components): unknown {
  if (Array.isArray(part)) return part.map((item: unknown) => nameSchemas(item, components))
  if (!isRecord(part)) return part
  const { title, ...schema } = Object.fromEntries(
    Object.entries(part).map(
      ([key, value]) => [key, data.has(key) ? value : key === 'properties' ? nameEach(value, components) : nameSchemas(value, components)]
    )
  )
  if (typeof title !== 'string') return title === undefined ? schema : { title, ...schema }
  return addComponent(components, 'schemas', title, mapped(part, schema))
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

/** Looks at a part of an operation that several may have, and answers what is to stand there. */
type Visit = (kind: Kind, name: string, part: OpenApiObject) => OpenApiObject

/**
 * Operations with references in the place of the parameters, bodies and successes that several of them have: of each name, the one that
 * most have.
 */
export function shareParts (operations: readonly OpenApiObject[], components: Components): OpenApiObject[] {
  const counts = new Map<string, number>()
  const most = new Map<string, string>()
  const keyOf = (kind: Kind, name: string, part: OpenApiObject): string => JSON.stringify([kind, name, part])
  for (const operation of operations) {
    mapParts(operation, (kind, name, part) => {
      const key = keyOf(kind, name, part)
      const count = (counts.get(key) ?? 0) + 1
      counts.set(key, count)
      if (count > Math.max(1, counts.get(most.get(`${kind} ${name}`) ?? '') ?? 0)) most.set(`${kind} ${name}`, key)
      return part
    })
  }
  return operations.map((operation) =>
    mapParts(operation, (kind, name, part) =>
      most.get(`${kind} ${name}`) === keyOf(kind, name, part) ? addComponent(components, kind, name, part) : part)
  )
}

function mapParts (operation: OpenApiObject, visit: Visit): OpenApiObject {
  const { parameters, requestBody, responses } = operation
  return {
    ...operation,
    ...Array.isArray(parameters)
      ? { parameters: parameters.map((parameter: OpenApiObject) => visit('parameters', String(parameter['name']), parameter)) }
      : {},
    ...isRecord(requestBody) ? { requestBody: visitNamed('requestBodies', requestBody, visit) } : {},
    ...isRecord(responses)
      ? {
        responses: Object.fromEntries(
          Object.entries(responses).map(([status, response]) => [status, visitNamed('responses', response as OpenApiObject, visit)])
        )
      }
      : {}
  }
}

/** A body or an answer is called after the schemas that it has. */
function visitNamed (kind: Kind, part: OpenApiObject, visit: Visit): OpenApiObject {
  if ('$ref' in part) return part
  const names = isRecord(part['content'])
    ? Object.values(part['content']).flatMap((media) => namesIn((media as OpenApiObject)['schema'] as OpenApiObject))
    : ['NoContent']
  return names.length === 0 ? part : visit(kind, names.join('Or'), part)
}

function namesIn ({ $ref, anyOf }: OpenApiObject): string[] {
  if (Array.isArray(anyOf)) return anyOf.flatMap((schema: OpenApiObject) => namesIn(schema))
  return typeof $ref === 'string' ? [$ref.slice($ref.lastIndexOf('/') + 1)] : []
}
