import { callbackTypes, isSince, type Version } from '@dispatch/contract'
import { callbackNamesIn } from './callback-operations.ts'
import type { OpenApiObject } from './components.ts'
import { type Part, parts, tags } from './tags.ts'

/** The document of a version: with its number, its answers, and the callbacks that its dispatches have. */
export function inVersion (document: object, version: Version): OpenApiObject {
  const { info, webhooks } = document as { info: OpenApiObject, webhooks: Record<string, OpenApiObject> }
  const reported = callbackNamesIn(version)
  const known = { ...document, info: { ...info, version }, webhooks: Object.fromEntries(reported.map((name) => [name, webhooks[name]])) }
  const later = new Set(callbackTypes.filter((type) => !reported.includes(type)))
  return withoutUnused(withAnswersOf(version, withoutLater(known, later) as OpenApiObject))
}

/** The operations of one part of a document of a version, with what they need. Callbacks belong to what sends. */
export function partOf (document: OpenApiObject, part: Part): OpenApiObject {
  const { info, webhooks, paths } = document as { info: OpenApiObject, webhooks: OpenApiObject, paths: Record<string, OpenApiObject> }
  const isIn = ([name, operation]: [string, unknown]): boolean => {
    const [tag = ''] = (operation as { tags?: readonly string[] }).tags ?? []
    return name === 'parameters' || partOfTag(tag) === part
  }
  const kept = Object.entries(paths).map(([path, item]) => [path, Object.fromEntries(Object.entries(item).filter(isIn))] as const)
    .filter(([, item]) => Object.keys(item).some((name) => name !== 'parameters'))
  const described = (document['tags'] as { name: string }[]).filter(({ name }) => partOfTag(name) === part)
  return withoutUnused({
    ...document,
    info: { ...info, description: `${parts[part]}, out of the whole document.\n\n${String(info['description'])}` },
    tags: described,
    webhooks: part === 'send' ? webhooks : {},
    paths: Object.fromEntries(kept)
  })
}

/** A group that the document does not introduce is one for companies. */
function partOfTag (tag: string): Part {
  return Object.hasOwn(tags, tag) ? tags[tag as keyof typeof tags][0] : 'manage'
}

/** The document without the answers that only later versions have: their schema says so by `x-since`. */
function withAnswersOf (version: Version, document: OpenApiObject): OpenApiObject {
  const { components: { responses, schemas }, paths } = document as unknown as Answering
  const isLater = (answer: Answer | Reference): boolean => {
    const { content } = '$ref' in answer ? responses[nameOf(answer)] ?? {} : answer
    const schema = content?.['application/json']?.schema
    return schema !== undefined && !isSince(schemas[nameOf(schema)]?.['x-since'], version)
  }
  const kept = (operation: unknown): unknown => {
    if (typeof operation !== 'object' || operation === null || !('responses' in operation)) return operation
    const answers = Object.entries(operation.responses as Record<string, Answer | Reference>)
    return { ...operation, responses: Object.fromEntries(answers.filter(([, answer]) => !isLater(answer))) }
  }
  const ofPath = (operations: object): object => Object.fromEntries(Object.entries(operations).map(([name, one]) => [name, kept(one)]))
  return { ...document, paths: Object.fromEntries(Object.entries(paths).map(([path, operations]) => [path, ofPath(operations)])) }
}

type Reference = { $ref: string }
type Answer = { content?: { 'application/json'?: { schema?: Partial<Reference> } } }
type Answering = {
  components: { responses: Record<string, Answer>, schemas: Record<string, { 'x-since'?: string }> }
  paths: Record<string, object>
}

/** The name of what a reference leads to. */
function nameOf ({ $ref = '' }: Partial<Reference>): string {
  return $ref.slice($ref.lastIndexOf('/') + 1)
}

/** The document without the parts to which nothing of it leads. */
function withoutUnused (document: OpenApiObject): OpenApiObject {
  const { components } = document as { components: Record<string, OpenApiObject> }
  const used = new Set(Array.from(JSON.stringify(document).matchAll(/"#\/components\/([^"]+)"/g), ([, place]) => place))
  const left = { ...components }
  for (const kind of ['pathItems', 'parameters', 'requestBodies', 'responses', 'headers', 'schemas', 'examples']) {
    left[kind] = Object.fromEntries(Object.entries(components[kind] ?? {}).filter(([name]) => used.has(`${kind}/${name}`)))
  }
  const counted = (all: Record<string, OpenApiObject>): number => Object.values(all).reduce((sum, one) => sum + Object.keys(one).length, 0)
  return counted(left) === counted(components) ? document : withoutUnused({ ...document, components: left })
}

/** A part of the document, whose lists of types of callbacks leave out those of later versions. */
function withoutLater (part: unknown, later: ReadonlySet<unknown>): unknown {
  if (typeof part !== 'object' || part === null || later.size === 0) return part
  if (Array.isArray(part)) return part.map((one: unknown) => withoutLater(one, later))
  return Object.fromEntries(
    Object.entries(part).map(([name, value]: [string, unknown]) => [
      name,
      name === 'enum' && Array.isArray(value) ? value.filter((one) => !later.has(one)) : withoutLater(value, later)
    ])
  )
}
