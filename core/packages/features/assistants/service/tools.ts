import { isRecord, type Json, type JsonObject } from '@dispatch/common'
import type { KeyScope } from '@dispatch/contract'

/** An answer of the API. */
export type ApiAnswer = { status: number, contentType: string, bytes: Buffer }
/** Asks the API, as the key of the assistant. */
export type Ask = (
  method: 'GET' | 'POST',
  path: string,
  more?: { body?: JsonObject, headers?: Record<string, string> }
) => Promise<ApiAnswer>

/** What a tool answers, in the words of the protocol. */
export type Content =
  | { type: 'text', text: string }
  | { type: 'resource', resource: { uri: string, mimeType: string, blob: string } }
export type ToolResult = { content: Content[], isError?: boolean }

/** What a call works with. `proposes`: the key sends nothing by itself. */
export type Calling = { ask: Ask, proposes: boolean, console: string | undefined }

/** How many parts of the documentation an assistant is told of. */
const maxFound = 5

export type Tool = {
  name: string
  title: string
  description: string
  inputSchema: { type: 'object', properties: JsonObject, required?: string[], additionalProperties: false }
  annotations: { readOnlyHint: boolean, destructiveHint: boolean, idempotentHint: boolean, openWorldHint: boolean }
  /** One of these scopes lets a key use it; none: every key may. */
  scopes: readonly KeyScope[]
  call: (given: JsonObject, calling: Calling) => Promise<ToolResult>
}

type Operation = { operationId: string, path: string, parameters: JsonObject[], body: JsonObject | undefined }

/** What the tools know of the API: its operations, and what several of their inputs have. */
type Api = { services: readonly Operation[], service: JsonObject, request: JsonObject, operation: (id: string) => Operation }

const reading = { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false }
const sending = { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: true }

/** The tools of an assistant, whose inputs have the schemas of the operations behind them, as an OpenAPI document tells them. */
export function toolsOf (document: JsonObject): Tool[] {
  const api = apiIn(document)
  return [...preparingTools(api), ...sendingTools(api), ...followingTools(api), searchTool]
}

/** Its \`operation\` throws for one that the document does not have. */
function apiIn (document: JsonObject): Api {
  const operations = operationsIn(document)
  const services = operations.filter(({ operationId, path }) => operationId.startsWith('dispatch') && path !== '/api/upload')
  return {
    services,
    service: {
      type: 'string',
      enum: services.map(({ path }) => path.slice('/api/'.length)),
      description: 'The service, or the services of a chain in their order.'
    },
    request: { type: 'object', description: 'The request: describe_service tells what belongs into it.' },
    operation (id) {
      const found = operations.find(({ operationId }) => operationId === id)
      if (found === undefined) throw new Error(`The tools of assistants need the operation "${id}".`)
      return found
    }
  }
}

/** What belongs into a request, and what comes of a template. */
function preparingTools ({ services, service, operation }: Api): Tool[] {
  return [
    {
      name: 'describe_service',
      title: 'Describe a service',
      description: 'Tells what belongs into the request of a service or a chain: its JSON Schema, with examples.',
      inputSchema: schema({ service }, ['service']),
      annotations: reading,
      scopes: [],
      call: ({ service }) => Promise.resolve(reported(services.find(({ path }) => path === `/api/${textOf(service)}`)?.body))
    },
    {
      name: 'list_templates',
      title: 'List templates',
      description: 'Lists the templates, each with the JSON Schema of its data and a sample.',
      inputSchema: schema(queryOf(operation('listTemplates'))),
      annotations: reading,
      scopes: ['send', 'propose', 'templates'],
      call: async (given, { ask }) => answered(await ask('GET', `/api/v1/templates${query(given)}`))
    },
    {
      name: 'preview_template',
      title: 'Preview a template',
      description: 'Makes the document of a template with data, and keeps nothing. Without data it shows the sample.',
      inputSchema: schema({ id: parameterOf(operation('previewTemplate'), 'id'), ...propertiesOf(operation('previewTemplate').body) }, [
        'id'
      ]),
      annotations: reading,
      scopes: ['send', 'propose', 'templates'],
      async call ({ id, ...body }, { ask }) {
        const path = `/api/v1/templates/${segment(id)}/preview`
        const answer = await ask('POST', path, { body })
        return answer.status >= 400 || /^(text\/|application\/json)/.test(answer.contentType)
          ? answered(answer)
          : {
            content: [{ type: 'resource', resource: { uri: path, mimeType: answer.contentType, blob: answer.bytes.toString('base64') } }]
          }
      }
    }
  ]
}

/** A request is checked, and sent or proposed. */
function sendingTools ({ service, request, operation }: Api): Tool[] {
  const sandbox = parameterOf(operation('dispatchSms'), 'sandbox')
  return [
    {
      name: 'validate',
      title: 'Validate a request',
      description: 'Checks a request as a dispatch would, and tells the provider and the price. Nothing is sent, kept or charged.',
      inputSchema: schema({ service, request }, ['service', 'request']),
      annotations: reading,
      scopes: ['send', 'propose'],
      call: async ({ service, request }, { ask }) => answered(await ask('POST', `${pathOf(service)}/validate`, { body: objectOf(request) }))
    },
    {
      name: 'send',
      title: 'Send',
      description: 'Dispatches a request. Where the key only proposes, a person decides: the answer has the link that they open. With ' +
        '"sandbox" it is tested at once, without effect or charge. Repeat what had no clear answer under the same idempotencyKey.',
      inputSchema: schema({
        service,
        request,
        sandbox,
        idempotencyKey: { type: 'string', minLength: 1, maxLength: 255, description: 'One for each thing that is to be sent once.' },
        reason: { type: 'string', maxLength: 300, description: 'Why, on one line, for the person who decides.' }
      }, ['service', 'request', 'idempotencyKey']),
      annotations: sending,
      scopes: ['send', 'propose'],
      async call ({ service, request, sandbox, idempotencyKey, reason }, { ask, proposes }) {
        if (proposes && sandbox !== true) {
          const body = { service: textOf(service), request: objectOf(request), ...typeof reason === 'string' ? { reason } : {} }
          return proposed(await ask('POST', '/api/v1/proposals', { body, headers: { 'idempotency-key': textOf(idempotencyKey) } }))
        }
        return answered(
          await ask('POST', `${pathOf(service)}${sandbox === true ? '?sandbox=true' : ''}`, {
            body: objectOf(request),
            headers: { 'idempotency-key': textOf(idempotencyKey) }
          })
        )
      }
    },
    {
      name: 'read_proposal',
      title: 'Read a proposal',
      description: 'Tells what became of a proposal: whether a person has sent or declined it, and as which dispatch.',
      inputSchema: schema({ id: parameterOf(operation('readProposal'), 'id') }, ['id']),
      annotations: reading,
      scopes: ['send', 'propose'],
      call: async ({ id }, { ask }) => answered(await ask('GET', `/api/v1/proposals/${segment(id)}`))
    }
  ]
}

/** What has become of dispatches. */
function followingTools ({ operation }: Api): Tool[] {
  const dispatchId = parameterOf(operation('readDispatch'), 'id')
  return [
    {
      name: 'find_dispatches',
      title: 'Find dispatches',
      description: 'Finds dispatches, the newest first.',
      inputSchema: schema(queryOf(operation('listDispatches'))),
      annotations: reading,
      scopes: ['read_own', 'read_all'],
      call: async (given, { ask }) => answered(await ask('GET', `/api/v1/dispatches${query(given)}`))
    },
    {
      name: 'explain_failure',
      title: 'Explain a failure',
      description: 'Tells all of a dispatch: its state and errors, what happened to it in order, and why it had its provider.',
      inputSchema: schema({ dispatchId }, ['dispatchId']),
      annotations: reading,
      scopes: ['read_own', 'read_all'],
      async call ({ dispatchId }, { ask }) {
        const path = `/api/v1/dispatches/${segment(dispatchId)}`
        const found = await ask('GET', path)
        if (found.status >= 400) return answered(found)
        const [dispatch, events, choices] = [found, await ask('GET', `${path}/events`), await ask('GET', `${path}/choices`)].map(jsonOf)
        return reported({ dispatch, events, choices } as JsonObject)
      }
    },
    {
      name: 'retry',
      title: 'Retry a dispatch',
      description:
        'Runs what failed of a dispatch again; what was sent is not repeated. Where the key only proposes, a person does it: the ' +
        'answer has the link.',
      inputSchema: schema({ dispatchId }, ['dispatchId']),
      annotations: sending,
      scopes: ['send', 'propose'],
      async call ({ dispatchId }, { ask, proposes, console }) {
        const path = `/api/v1/dispatches/${segment(dispatchId)}`
        if (!proposes) return answered(await ask('POST', `${path}/retry`, { body: {} }))
        const link = console === undefined ? 'the console of the service' : `${console}/dispatches/${segment(dispatchId)}`
        return reported({ status: 'a person decides', link })
      }
    }
  ]
}

const searchTool: Tool = {
  name: 'search_documentation',
  title: 'Search the documentation',
  description: 'Finds parts of the documentation of this service.',
  inputSchema: schema({ query: { type: 'string', minLength: 2, maxLength: 200, description: 'A few words.' } }, ['query']),
  annotations: reading,
  scopes: [],
  async call ({ query }, { ask }) {
    const answer = await ask('GET', `/docs/search.json?q=${encodeURIComponent(textOf(query))}`)
    // A service may be without its documentation.
    return answer.status === 200 ? reported(((jsonOf(answer) as JsonObject)['data'] as Json[]).slice(0, maxFound)) : answered(answer)
  }
}

function schema (properties: JsonObject, required: string[] = []): Tool['inputSchema'] {
  return { type: 'object', properties, ...required.length === 0 ? {} : { required }, additionalProperties: false }
}

function reported (answer: Json | undefined): ToolResult {
  return { content: [{ type: 'text', text: JSON.stringify(answer ?? { error: 'not_found', message: 'There is no such thing.' }) }] }
}

function jsonOf ({ bytes }: ApiAnswer): Json {
  return JSON.parse(bytes.toString()) as Json
}

function answered ({ status, bytes }: ApiAnswer): ToolResult {
  return { content: [{ type: 'text', text: bytes.toString() }], ...status >= 400 ? { isError: true } : {} }
}

/** A proposal without the request, which the assistant has, and with what comes next. */
function proposed (answer: ApiAnswer): ToolResult {
  if (answer.status >= 400) return answered(answer)
  const { id, status, link, expiresAt } = jsonOf(answer) as JsonObject
  const message = 'Nothing was sent. A person opens the link, sees the document and the price, and sends it or not.'
  return reported({ id, status, link, expiresAt, message } as JsonObject)
}

/** A value as it stands in an address: of a list or an object nothing. */
function textOf (value: Json | undefined): string {
  return value === undefined || value === null || typeof value === 'object' ? '' : String(value)
}

/** A name as one part of a path. */
function segment (name: Json | undefined): string {
  return encodeURIComponent(textOf(name))
}

/** The path of a service or a chain: each name is one part of it. */
function pathOf (service: Json | undefined): string {
  return `/api/${textOf(service).split('/').map(encodeURIComponent).join('/')}`
}

function objectOf (value: Json | undefined): JsonObject {
  return isRecord(value) ? value : {}
}

function query (given: JsonObject): string {
  const parameters = new URLSearchParams()
  for (const [name, value] of Object.entries(given)) {
    if (isRecord(value)) { for (const [key, one] of Object.entries(value)) parameters.append(`${name}[${key}]`, textOf(one)) }
    else for (const one of [value].flat()) parameters.append(name, textOf(one))
  }
  return parameters.size === 0 ? '' : `?${parameters.toString()}`
}

function operationsIn (document: JsonObject): Operation[] {
  return Object.entries(document['paths'] as JsonObject).flatMap(([path, item]) => {
    const { parameters: shared = [], ...methods } = item as JsonObject
    return Object.values(methods).flatMap((one) => {
      const { operationId, parameters = [], requestBody } = one as JsonObject
      const content = (whole(document, requestBody ?? {}) as { content?: Record<string, JsonObject> }).content?.['application/json']
      return typeof operationId === 'string'
        ? [{
          operationId,
          path,
          parameters: whole(document, [...shared as Json[], ...parameters as Json[]]) as JsonObject[],
          body: content?.['schema'] as JsonObject | undefined
        }]
        : []
    })
  })
}

/** A part of the document with what it refers to in its place. */
function whole (document: JsonObject, part: Json, within: readonly string[] = []): Json {
  if (Array.isArray(part)) return part.map((one: Json) => whole(document, one, within))
  if (!isRecord(part)) return part
  const reference = part['$ref']
  if (typeof reference === 'string') {
    if (within.includes(reference)) return {}
    const found = reference.slice(2).split('/').reduce<Json>((at, name) => (at as JsonObject)[name.replaceAll('~1', '/')] ?? {}, document)
    return whole(document, found, [...within, reference])
  }
  return Object.fromEntries(Object.entries(part as JsonObject).map(([name, value]) => [name, whole(document, value, within)]))
}

/** The fields of a query. */
function queryOf ({ parameters }: Operation): JsonObject {
  return Object.fromEntries(parameters.filter((one) => one['in'] === 'query').map(described))
}

function parameterOf ({ operationId, parameters }: Operation, desired: string): Json {
  const found = parameters.map(described).find(([name]) => name === desired)
  if (found === undefined) throw new Error(`The tools of assistants need "${desired}" of the operation "${operationId}".`)
  return found[1]
}

function described ({ name, schema, description }: JsonObject): [string, Json] {
  return [textOf(name), { ...schema as JsonObject, ...description === undefined ? {} : { description } }]
}

function propertiesOf (schema: JsonObject | undefined): JsonObject {
  return objectOf(schema?.['properties'])
}
