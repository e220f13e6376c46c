import { isRecord } from '@dispatch/common'
import { isDeepStrictEqual } from 'node:util'
import { addComponent, type Components, type Kind, type OpenApiObject } from './components.ts'

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

/** A schema that begins with another one refers to it, if the fields of that one take at least so many characters. */
const worthSharing = 300

type Fields = { required: readonly string[], properties: OpenApiObject }

/** Objects with all fields of another one refer to it, the largest: `KeyWithSecret` is a `Key` with one more field. */
export function shareFields (schemas: Readonly<Record<string, OpenApiObject>>): Record<string, OpenApiObject> {
  const all = Object.entries(schemas).flatMap(([name, schema]) => {
    const fields = fieldsOf(schema)
    return fields === undefined ? [] : [{ name, fields, size: JSON.stringify(schema).length }]
  })
  return Object.fromEntries(Object.entries(schemas).map(([name, schema]) => {
    const fields = fieldsOf(schema)
    const [base] = fields === undefined
      ? []
      : all.filter((other) => other.size >= worthSharing && isPart(other.fields, fields)).sort((one, other) => other.size - one.size)
    return [name, fields === undefined || base === undefined ? schema : extended(base.name, without(fields, base.fields))]
  }))
}

/** The fields of an object that has nothing else, and may have further ones. */
function fieldsOf ({ type, required = [], properties, ...more }: OpenApiObject): Fields | undefined {
  return type === 'object' && isRecord(properties) && Object.keys(more).length === 0
    ? { required: required as readonly string[], properties }
    : undefined
}

function isPart (part: Fields, whole: Fields): boolean {
  const names = Object.keys(part.properties)
  return names.length < Object.keys(whole.properties).length &&
    names.every((name) =>
      isDeepStrictEqual(part.properties[name], whole.properties[name]) && part.required.includes(name) === whole.required.includes(name)
    )
}

function without ({ required, properties }: Fields, base: Fields): Fields {
  return {
    required: required.filter((name) => !Object.hasOwn(base.properties, name)),
    properties: Object.fromEntries(Object.entries(properties).filter(([name]) => !Object.hasOwn(base.properties, name)))
  }
}

function extended (base: string, { required, properties }: Fields): OpenApiObject {
  return {
    allOf: [{ $ref: `#/components/schemas/${base}` }],
    type: 'object',
    ...(required.length === 0 ? {} : { required }),
    properties
  }
}

/** The operations of a path, by their method: what all of them take stands at the path, once. */
export function shareParameters (item: OpenApiObject): OpenApiObject {
  const operations = Object.entries(item) as [method: string, operation: OpenApiObject][]
  const [first = [], ...others] = operations.map(([, operation]) => parametersOf(operation))
  const shared = first.filter((parameter) => others.every((list) => has(list, parameter)))
  if (others.length === 0 || shared.length === 0) return item
  const own = operations.map(([method, { parameters, ...operation }]) => {
    const left = parametersOf({ parameters }).filter((parameter) => !has(shared, parameter))
    return [method, left.length === 0 ? operation : { ...operation, parameters: left }]
  })
  return { parameters: shared, ...Object.fromEntries(own) as OpenApiObject }
}

function parametersOf ({ parameters = [] }: OpenApiObject): readonly OpenApiObject[] {
  return parameters as OpenApiObject[]
}

function has (list: readonly OpenApiObject[], parameter: OpenApiObject): boolean {
  return list.some((other) => isDeepStrictEqual(other, parameter))
}
