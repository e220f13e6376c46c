import { type Content, type Document, nameOf, type Operation, operationsOf, type Parameter, resolved } from './document.ts'

/** A method of the client: an operation of the document, and where it stands. */
export type Method = {
  operation: Operation
  group: string
  name: string
  /** `POST`. */
  method: string
  path: string
  /** The names of what stands in the path, in their order. */
  inPath: readonly string[]
  query: readonly Parameter[]
  body: 'json' | 'form' | undefined
  bodyName: string | undefined
  isBodyNeeded: boolean
  /** Takes an idempotency key. */
  isKeyed: boolean
  answer: Answer
}

/** `names`: the schemas of the answer, if all have a name. */
export type Answer =
  | { kind: 'json' | 'pages', status: string, names: readonly string[] | undefined }
  | { kind: 'events' }
  | { kind: 'raw' }
  | { kind: 'nothing' }

/** The methods of a document: its operations, grouped by their tags and named by their `operationId`. */
export function methodsOf (document: Document): Method[] {
  const all = operationsOf(document).map(({ path, method, operation, parameters }): Method => {
    const { content: body = {}, required: isBodyNeeded = false } = resolved(document, operation.requestBody ?? {})
    const query = parameters.filter((parameter) => parameter.in === 'query')
    const [media] = Object.values(body)
    return {
      operation,
      ...placeOf(operation),
      method: method.toUpperCase(),
      path,
      inPath: [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name),
      query,
      body: media === undefined ? undefined : 'multipart/form-data' in body ? 'form' : 'json',
      isBodyNeeded,
      bodyName: media === undefined ? undefined : nameOf(media.schema),
      isKeyed: parameters.some(({ name }) => name === 'x-idempotency-key'),
      answer: answerOf(document, operation, query)
    }
  })
  const taken = Map.groupBy(all, placeIn)
  // Of two of one name, that about a single thing has it: `follow` follows a dispatch, `followDispatches` all of them.
  return all.map((one) =>
    (taken.get(placeIn(one)) ?? []).length < 2 || one.inPath.length > 0 ? one : { ...one, name: one.operation.operationId }
  )
}

function placeIn ({ group, name }: Method): string {
  return `${group}.${name}`
}

/**
 * `listDispatches` of the tag "Dispatches" is `dispatches.list`: without the group's noun, where that stands right after the verb. What
 * dispatches and what validates are groups of their own: `dispatch.invoicing`, `validate.invoicing`.
 */
function placeOf ({ operationId, tags: [tag = ''] }: Operation): { group: string, name: string } {
  const [, verb = '', rest = ''] = /^([a-z]+)(.*)$/.exec(operationId) ?? []
  if (tag === 'Dispatch') return { group: verb, name: lowered(rest) }
  const joined = tag.replaceAll(/[ -](\w)/g, (_, letter: string) => letter.toUpperCase())
  const noun = [joined, joined.replace(/es$/, ''), joined.replace(/s$/, '')].find((one) =>
    rest === one || (rest.startsWith(one) && /^[A-Z]/.test(rest.slice(one.length)))
  )
  return { group: lowered(joined), name: noun === undefined ? operationId : `${verb}${rest.slice(noun.length)}` }
}

function lowered (word: string): string {
  return word.charAt(0).toLowerCase() + word.slice(1)
}

function answerOf (document: Document, { responses }: Operation, query: readonly Parameter[]): Answer {
  const [status, success] = successOf(responses) ?? []
  const [type, media] = Object.entries(success === undefined ? {} : resolved(document, success).content ?? {})[0] ?? []
  if (status === undefined || type === undefined || media === undefined) return { kind: 'nothing' }
  if (type === 'text/event-stream') return { kind: 'events' }
  if (type !== 'application/json') return { kind: 'raw' }
  const names = (media.schema.anyOf ?? [media.schema]).map(nameOf)
  const isPaged = query.some(({ name }) => name === 'cursor') && resolved(document, media.schema).properties?.['data'] !== undefined
  return { kind: isPaged ? 'pages' : 'json', status, names: names.every((name) => name !== undefined) ? names : undefined }
}

export function successOf (responses: Readonly<Record<string, Content>>): [status: string, success: Content] | undefined {
  return Object.entries(responses).find(([status]) => status.startsWith('2'))
}
