import { isRecord } from '@dispatch/common'
import { isDeepStrictEqual } from 'node:util'
import { addComponent, type Components, type Kind, type OpenApiObject } from './components.ts'

/** Looks at a part of an operation that several may have, and answers what is to stand there. */
type Visit = (kind: Kind, name: string, part: OpenApiObject) => OpenApiObject

/**
 * Operations with references in the place of the parameters, bodies and successes that several of them have. Of those with the same name,
 * the one that most have has it alone, and the others a number behind it.
 */
export function shareParts (operations: readonly OpenApiObject[], components: Components): OpenApiObject[] {
  const tally = createTally()
  for (const operation of operations) {
    mapParts(operation, (kind, name, part) => {
      tally.add(kind, name, part)
      return part
    })
  }
  const nameOf = tally.names()
  return operations.map((operation) =>
    mapParts(operation, (kind, _name, part) => {
      const name = nameOf(kind, part)
      return name === undefined ? part : addComponent(components, kind, name, part)
    })
  )
}

/** Counts parts, and gives each that is there several times a name of its own. */
function createTally () {
  const parts = new Map<string, { kind: Kind, name: string, count: number }>()
  const keyOf = (kind: Kind, part: unknown): string => JSON.stringify([kind, part])
  return {
    add: (kind: Kind, name: string, part: unknown): void => {
      const known = parts.get(keyOf(kind, part))
      if (known === undefined) parts.set(keyOf(kind, part), { kind, name, count: 1 })
      else known.count++
    },
    names: (): (kind: Kind, part: unknown) => string | undefined => {
      const named = new Map<string, string>()
      const taken = new Map<string, number>()
      const several = [...parts].filter(([, { count }]) => count > 1).sort(([, one], [, other]) => other.count - one.count)
      for (const [key, { kind, name }] of several) {
        const nth = (taken.get(`${kind} ${name}`) ?? 0) + 1
        taken.set(`${kind} ${name}`, nth)
        named.set(key, nth === 1 ? name : `${name}${String(nth)}`)
      }
      return (kind, part) => named.get(keyOf(kind, part))
    }
  }
}

function mapParts (operation: OpenApiObject, visit: Visit): OpenApiObject {
  const { operationId, parameters, requestBody, responses } = operation
  const own = pascal(String(operationId))
  return {
    ...operation,
    ...Array.isArray(parameters)
      ? { parameters: parameters.map((parameter: OpenApiObject) => visit('parameters', String(parameter['name']), parameter)) }
      : {},
    ...isRecord(requestBody) ? { requestBody: visitNamed('requestBodies', requestBody, own, visit) } : {},
    ...isRecord(responses)
      ? {
        responses: Object.fromEntries(
          Object.entries(responses).map(([status, response]) => [status, visitNamed('responses', response as OpenApiObject, own, visit)])
        )
      }
      : {}
  }
}

/** A body or an answer is called after the schemas that it has, or after the operation. */
function visitNamed (kind: Kind, part: OpenApiObject, own: string, visit: Visit): OpenApiObject {
  if ('$ref' in part) return part
  const names = isRecord(part['content'])
    ? Object.values(part['content']).flatMap((media) => namesIn((media as OpenApiObject)['schema'] as OpenApiObject))
    : ['NoContent']
  return visit(kind, names.length === 0 ? own : [...new Set(names)].join('Or'), part)
}

function pascal (name: string): string {
  return name.slice(0, 1).toUpperCase() + name.slice(1)
}

function namesIn ({ $ref, anyOf }: OpenApiObject): string[] {
  if (Array.isArray(anyOf)) return anyOf.flatMap((schema: OpenApiObject) => namesIn(schema))
  return typeof $ref === 'string' ? [$ref.slice($ref.lastIndexOf('/') + 1)] : []
}

/** An example that takes so many characters stands in the document once. */
const worthNaming = 150

/** Parts of the document with references in the place of the examples that several answers have. */
export function shareExamples<Parts extends readonly unknown[]> (parts: Parts, components: Components): Parts {
  const tally = createTally()
  mapMedia(parts, (media) => {
    const { schema, example } = media
    if (example !== undefined && JSON.stringify(example).length >= worthNaming) {
      tally.add('examples', namesIn(schema as OpenApiObject)[0] ?? 'Example', example)
    }
    return media
  })
  const nameOf = tally.names()
  return mapMedia(parts, ({ example, ...media }) => {
    const name = nameOf('examples', example)
    if (name !== undefined) return { ...media, examples: { usual: addComponent(components, 'examples', name, { value: example }) } }
    return example === undefined ? media : { ...media, example }
  }) as Parts
}

/** Looks at each form in which an answer comes. */
function mapMedia (part: unknown, visit: (media: OpenApiObject) => OpenApiObject): unknown {
  if (Array.isArray(part)) return part.map((one: unknown) => mapMedia(one, visit))
  if (!isRecord(part)) return part
  return Object.fromEntries(
    Object.entries(part).map(([key, value]) => {
      if (key === 'schema' || key === 'requestBody') return [key, value]
      if (key !== 'content' || !isRecord(value)) return [key, mapMedia(value, visit)]
      return [key, Object.fromEntries(Object.entries(value).map(([type, media]) => [type, visit(media as OpenApiObject)]))]
    })
  )
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
