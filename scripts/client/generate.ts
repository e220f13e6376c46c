import openapiTypescript, { astToString, type OpenAPI3 } from 'openapi-typescript'
import { type Content, type Document, nameOf, operationsOf, resolved } from './document.ts'
import { type Method, methodsOf, successOf } from './methods.ts'

/** What is generated of a document: the types of what it describes, and the module of the package. */
export type Generated = { schema: string, index: string }

/** Generates the client of the API that a document describes. Throws where a parameter is called like an option of the client. */
export async function generateClient (document: Document): Promise<Generated> {
  const types = await openapiTypescript(pruned(document) as OpenAPI3, {
    defaultNonNullable: false,
    rootTypes: true,
    rootTypesNoSchemaPrefix: true,
    silent: true
  })
  return { schema: astToString(types), index: moduleOf(document, methodsOf(document)) }
}

/** The document without what the client types otherwise, or not at all: errors, headers, examples and callbacks. */
function pruned (document: Document): object {
  const paths = operationsOf(document).map(({ path, method, operation: { operationId, requestBody, responses }, parameters }) => {
    const [status = '204', success = {}] = successOf(responses) ?? []
    return {
      path,
      method,
      operation: {
        operationId,
        parameters: parameters.filter((parameter) => parameter.in !== 'header'),
        ...requestBody === undefined ? {} : { requestBody: { required: true, ...contentOf(document, requestBody) } },
        responses: { [status]: { description: '', ...contentOf(document, success) } }
      }
    }
  })
  const byPath = Map.groupBy(paths, ({ path }) => path)
  return withoutExamples({
    openapi: document.openapi,
    info: document.info,
    paths: Object.fromEntries(
      [...byPath].map(([path, list]) => [path, Object.fromEntries(list.map(({ method, operation }) => [method, operation]))])
    ),
    components: { schemas: document.components['schemas'] }
  }) as object
}

function contentOf (document: Document, part: Content): Content {
  const { content } = resolved(document, part)
  return content === undefined ? {} : { content }
}

function withoutExamples (part: unknown): unknown {
  if (Array.isArray(part)) return part.map(withoutExamples)
  if (typeof part !== 'object' || part === null) return part
  return Object.fromEntries(
    Object.entries(part).filter(([name]) => name !== 'example' && name !== 'examples').map(
      ([name, value]: [string, unknown]) => [name, withoutExamples(value)]
    )
  )
}

function moduleOf (document: Document, methods: readonly Method[]): string {
  const groups = Map.groupBy(methods, ({ group }) => group)
  const callbacks = Object.values(document.components.pathItems).map(({ post: { requestBody = {} } }) =>
    resolved(document, requestBody).content?.['application/json']?.schema ?? {}
  )
  const events = [...new Set(callbacks.flatMap((schema) => nameOf(schema) ?? []))]
  const version = JSON.stringify(document.info.version)
  return `import { type CallOptions, clientOf, type ClientOptions, type HeadersLike, type Keyed, type Pages, type ServerEvent, signed, type SignOptions,
  type UnknownCallback, type Upload, verified, type VerifyOptions, type WaitOptions } from './runtime/index.ts'
import type { ${[...events, 'Dispatch', 'operations'].join(', ')} } from './schema.ts'
import type * as schema from './schema.ts'

export * from './runtime/index.ts'
export type * from './schema.ts'
export type * from './templates.ts'

type Query<Name extends keyof operations> = NonNullable<operations[Name]['parameters']['query']>

${[...groups].map(([group, list]) => groupOf(group, list)).join('\n')}
/** The service: a method for each of its operations, in groups. */
export interface Client {
${[...groups.keys()].map((group) => `  readonly ${group}: ${capital(group)}Operations`).join('\n')}
  /** Waits until a dispatch is neither queued nor running, and answers it. */
  wait (dispatch: string | { dispatchId: string }, options?: WaitOptions & { onChange?: (dispatch: Dispatch) => void }): Promise<Dispatch>
}

/** The version of the API that the types describe: each request asks for it. */
export const apiVersion = ${version}

const operations = {
${
    [...groups].map(([group, list]) => `  ${group}: {\n${list.map((method) => `    ${method.name}: '${lineOf(method)}'`).join(',\n')}\n  }`)
      .join(',\n')
  }
}

/** A client of the service at \`baseUrl\`. */
export function createClient (options: ClientOptions): Client {
  return clientOf(options, { operations, apiVersion }) as Client
}

/** What the service sends to the receivers of callbacks. */
export type CallbackEvent = ${events.join(' | ')}

const callbackTypes: readonly string[] = [
${Object.keys(document.webhooks).map((type) => `  '${type}'`).join(',\n')}
]

/**
 * The event of a callback, whose signature and age are checked. Throws \`CallbackError\`. An event of a type that this version does not know
 * has the type \`unknown\`.
 */
export function verifyCallback (
  headers: HeadersLike,
  rawBody: string | Uint8Array,
  secrets: string | readonly string[],
  options: VerifyOptions = {}
): Promise<CallbackEvent | UnknownCallback> {
  return verified(headers, rawBody, secrets, callbackTypes, options) as Promise<CallbackEvent | UnknownCallback>
}

/** The request that the service would send for an event, signed with a secret: for tests of a receiver. */
export function signCallback (event: CallbackEvent, secret: string, options: SignOptions = {}): Promise<{ headers: Record<string, string>, body: string }> {
  return signed(event, secret, options)
}
`
}

function groupOf (group: string, methods: readonly Method[]): string {
  return `export interface ${capital(group)}Operations {\n${methods.map(declared).join('\n')}\n}\n`
}

/** The options of calls, which stand among the parameters of a query. */
const options = new Set(['idempotencyKey', 'signal', 'onProgress', 'retries', 'timeout', 'headers'])

function declared (method: Method): string {
  const { operation: { operationId, summary, description, deprecated }, name, inPath, query, body, isBodyNeeded, isKeyed, answer } = method
  const clash = query.find((parameter) => options.has(parameter.name))
  if (clash !== undefined) throw new Error(`The parameter "${clash.name}" of ${operationId} is called like an option of the client.`)
  const sign = (result: string, isLastNeeded: boolean, more = ''): string => {
    const before = [
      ...inPath.map((parameter) => `${parameter}: string | number`),
      ...body === undefined
        ? []
        : isBodyNeeded
        ? [`body: ${bodyOf(method)}`]
        : [`body${isLastNeeded ? '' : '?'}: ${bodyOf(method)} | undefined`]
    ]
    const last = `options${isLastNeeded ? '' : '?'}: ${query.length === 0 ? '' : `Query<'${operationId}'> & `}CallOptions${more}`
    return `  ${name} (${[...before, last].join(', ')}): ${result}`
  }
  const isNeeded = query.some(({ required }) => required === true)
  const text = [summary, description, `\`${method.method} ${method.path}\``, deprecated === true ? '@deprecated' : undefined]
    .filter((line) => line !== undefined).join('\n\n').replaceAll('*/', '* /').replaceAll('\n', '\n   * ')
  const comment = `  /**\n   * ${text}\n   */\n`
  const names = answer.kind === 'json' ? answer.names ?? [] : []
  // Who does not ask for a queue gets the finished dispatch.
  const finished = names.filter((one) => one !== 'QueuedDispatch')
  if (isKeyed && finished.length < names.length) {
    const result = (list: readonly string[]): string => `Promise<(${list.map((one) => `schema.${one}`).join(' | ')}) & Keyed>`
    return `${comment}${sign(result(names), true, ' & { async: true }')}\n${comment}${
      sign(result(finished), false, ' & { async?: false }')
    }`
  }
  return comment + sign(resultOf(method), isNeeded)
}

function bodyOf ({ operation: { operationId }, body, bodyName }: Method): string {
  if (body === 'form') return 'Upload'
  return bodyName === undefined ? `operations['${operationId}']['requestBody']['content']['application/json']` : `schema.${bodyName}`
}

function resultOf ({ operation: { operationId }, isKeyed, answer }: Method): string {
  if (answer.kind === 'nothing') return 'Promise<void>'
  if (answer.kind === 'raw') return 'Promise<Response>'
  if (answer.kind === 'events') return 'AsyncGenerator<ServerEvent, undefined>'
  const type = answer.names === undefined
    ? `operations['${operationId}']['responses'][${answer.status}]['content']['application/json']`
    : answer.names.map((name) => `schema.${name}`).join(' | ')
  return answer.kind === 'pages' ? `Pages<${type}>` : `Promise<${isKeyed ? `(${type}) & Keyed` : type}>`
}

/** The line that tells the runtime what an operation is. */
function lineOf ({ method, path, body, isKeyed, answer: { kind } }: Method): string {
  const traits = [
    ...body === undefined ? [] : [body === 'json' ? 'body' : 'form'],
    ...isKeyed ? ['key'] : [],
    ...kind === 'json' ? [] : [kind]
  ]
  return [path.replace(/^\/api\/v1\//, ''), method, ...traits].join(' ')
}

function capital (word: string): string {
  return word.charAt(0).toUpperCase() + word.slice(1)
}
