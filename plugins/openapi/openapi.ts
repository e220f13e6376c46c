import { callbackTypes, ErrorBody, isSince, usualVersion, type Version, versionNames } from '@dispatch/contract'
import swagger, { type SwaggerTransformObject } from '@fastify/swagger'
import swaggerUi from '@fastify/swagger-ui'
import type { FastifyContextConfig, FastifySchema } from 'fastify'
import plugin from 'fastify-plugin'
import type { TObject } from 'typebox'
import { deprecationWarning } from '../hooks/headers.ts'
import { permissionsPolicies } from '../permissions-policy.ts'
import { callbackNamesIn, callbackOperations } from './callback-operations.ts'
import { type Components, emptyComponents, nameSchemas, type OpenApiObject } from './components.ts'
import { withExamples } from './examples.ts'
import { documentResponses, type RouteResponses, routeResponsesOf } from './openapi-responses.ts'
import { whoMayAsk } from './permissions.ts'
import { type PrecompressedJson, precompressJson, sendPrecompressedJson } from './precompressed-json.ts'
import { shareExamples, shareFields, shareParameters, shareParts } from './sharing.ts'

/**
 * The OpenAPI 3.1 document of all routes at `/openapi.json`, from the schemas that check them, and pages to read it at `/docs/reference`.
 * It is that of the version that serves requests which name none; those of all versions are at `/openapi/{version}.json`.
 */
export const openapiPlugin = plugin<{ publicUrl: string }>(async (app, { publicUrl }) => {
  await app.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: {
        title: 'Document Dispatch',
        version: usualVersion,
        description: 'Takes a template and its data, generates the document and dispatches it through a provider.\n\n' +
          `A request without \`X-API-Version\` is served by version ${usualVersion}. Each version has its own document: ` +
          `${versionNames.map((version) => `\`/openapi/${version}.json\``).join(', ')}.\n\n` +
          'An operation is for all users where it names no role, and for the API keys that it names.\n\n' +
          'Every request may have two headers, which only dispatches name: `X-Request-ID`, which the answer returns, and ' +
          '`X-API-Version`. ' +
          'The answer `default` of an operation tells the headers that every answer has.',
        contact: { name: 'Whoever runs this service', url: `${publicUrl}/.well-known/security.txt` },
        license: { name: 'Apache-2.0', identifier: 'Apache-2.0' }
      },
      externalDocs: { url: `${publicUrl}/docs/providers`, description: 'What each provider supports' },
      servers: [{ url: publicUrl }],
      security: [{ basic: [] }, { bearer: [] }, { key: [] }],
      tags: Object.entries(tags).map(([name, description]) => ({ name, description })),
      components: {
        securitySchemes: {
          basic: { type: 'http', scheme: 'basic', description: 'E-mail address and password.' },
          bearer: { type: 'http', scheme: 'bearer', description: 'An access token of `POST /auth`, good for 120 minutes.' },
          key: {
            type: 'http',
            scheme: 'bearer',
            bearerFormat: 'dk_live_…, dk_test_…',
            description: 'An API key of `POST /api/v1/keys`; also as the user name of Basic, without a password.'
          }
        }
      }
    },
    transform: ({ schema, url, route }) => ({ url, schema: documented(schema, route.config ?? {}) }),
    transformObject: finish,
    convertConstToEnum: false
  })
  // Serialised once, because it is large and anonymous clients may request it as often as they like.
  const documents = new Map<Version, PrecompressedJson>()
  const documentOf = (version: Version): PrecompressedJson => {
    const document = documents.get(version) ?? precompressJson(inVersion(app.swagger(), version))
    documents.set(version, document)
    return document
  }
  const open = { config: { public: true }, schema: { hide: true } }
  app.get('/openapi.json', open, (request, reply) => sendPrecompressedJson(request, reply, documentOf(usualVersion)))
  for (const version of versionNames) {
    app.get(`/openapi/${version}.json`, open, (request, reply) => sendPrecompressedJson(request, reply, documentOf(version)))
  }
  await app.register(async (pages) => {
    pages.addHook('onRoute', (route) => {
      route.config = { ...route.config, public: true }
    })
    pages.addHook('onRequest', (_request, reply, next) => {
      reply.header('permissions-policy', permissionsPolicies.other)
      next()
    })
    // The basic layout is the document alone, without a field for the address of another one.
    await pages.register(swaggerUi, {
      routePrefix: '/docs/reference',
      staticCSP: pagePolicy,
      theme: { title: 'Document Dispatch' },
      uiConfig: { layout: 'BaseLayout', deepLinking: true, docExpansion: 'list', defaultModelsExpandDepth: 0 }
    })
  })
}, { name: 'openapi', fastify: '5.x' })

/** The document of a version: with its number, its answers, and the callbacks that its dispatches have. */
function inVersion (document: object, version: Version): OpenApiObject {
  const { info, webhooks } = document as { info: OpenApiObject, webhooks: Record<string, OpenApiObject> }
  const told = callbackNamesIn(version)
  const known = { ...document, info: { ...info, version }, webhooks: Object.fromEntries(told.map((name) => [name, webhooks[name]])) }
  const later = new Set(callbackTypes.filter((type) => !told.includes(type)))
  return withoutUnused(withAnswersOf(version, withoutLater(known, later) as OpenApiObject))
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

/** The document without the bodies, answers and schemas to which nothing of it leads. */
function withoutUnused (document: OpenApiObject): OpenApiObject {
  const { components } = document as { components: Record<string, OpenApiObject> }
  const used = new Set(Array.from(JSON.stringify(document).matchAll(/"#\/components\/([^"]+)"/g), ([, place]) => place))
  const left = { ...components }
  for (const kind of ['requestBodies', 'responses', 'schemas']) {
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

/** The groups of operations, in the order in which a newcomer meets them. */
const tags = {
  Authentication: 'Logging in, and acting for others.',
  Dispatch: 'Dispatch through one or several services, and validate.',
  Batches: 'Many dispatches in one file.',
  Drafts: 'Requests that are not finished.',
  Assistants: 'What assistants propose, and people send.',
  Approvals: 'What somebody else has to approve before it is sent.',
  Contacts: 'To whom documents go, and who a company is on them.',
  Suppressions: 'To whom nothing is sent.',
  'E-reports': 'What French companies report to the tax authority.',
  Privacy: 'What is held about persons: erased for good, or handed over.',
  Usage: 'What was sent, and what became of it, in numbers.',
  Alerts: 'What a company wants to be told of, and how.',
  Dispatches: 'The state of dispatches, and the actions of people on them.',
  Documents: 'The documents that were made.',
  'Received invoices': 'E-invoices that others have sent to the company, and what it says of them.',
  Callbacks: 'The messages that the service sends by itself, and the secret that signs them.',
  Templates: 'What documents are made of.',
  Providers: 'Who dispatches.',
  Marketplace: 'Adapters that are installed while the service runs.',
  Configuration: 'Which provider does what, and how.',
  Credits: 'What dispatches cost.',
  Keys: 'The keys of programs.',
  Users: 'The people of a company.',
  'Second factor': 'What people sign in with besides the password.',
  Company: 'The settings of a company, and the record of changes.',
  Platform: 'For operators: companies, and what waits.',
  Webhooks: 'Where vendors post their events.',
  Health: 'For load balancers and clients.',
  Simulator: 'For development: the sent dispatches, and their delivery statuses.'
}

/** The pages load nothing from elsewhere; their library sets styles in the markup. */
const pagePolicy = {
  'default-src': '\'none\'',
  'script-src': '\'self\'',
  'style-src': '\'self\' \'unsafe-inline\'',
  'img-src': '\'self\' data:',
  'connect-src': '\'self\'',
  'base-uri': '\'none\'',
  'form-action': '\'none\'',
  'frame-ancestors': '\'none\''
}

/** Where the answers of an operation are noted until the document is written. */
const answers = 'x-answers'

/** Before which operation one stands, until the document is written. */
const before = 'x-before'

type Operation = { path: string, method: string, operation: OpenApiObject }

/** The operations in the order of the document: those of features where they say. */
function inOrder (operations: readonly Operation[]): Operation[] {
  const placed = operations.filter(({ operation }) => operation[before] === undefined)
  for (const { operation: { [before]: next, ...operation }, ...where } of operations) {
    if (next === undefined) continue
    const index = placed.findIndex((one) => one.operation['operationId'] === next)
    placed.splice(index === -1 ? placed.length : index, 0, { ...where, operation })
  }
  return placed
}

/** The whole document: its operations with their answers; what has a name or stands in several places is there once. */
const finish: SwaggerTransformObject = (document) => {
  if (!('openapiObject' in document)) return document.swaggerObject
  const { openapiObject } = document
  const components = emptyComponents()
  nameSchemas(ErrorBody, components)
  const operations = inOrder(
    Object.entries(openapiObject.paths ?? {}).flatMap(([path, methods = {}]) =>
      Object.entries(methods).map(([method, operation]) => ({ path, method, operation: operation as unknown as OpenApiObject }))
    )
  ).map(({ operation, ...where }) => ({ ...where, operation: completed(operation, components) }))
  const webhooks = callbackOperations(components)
  const parts = shareParts(operations.map(({ operation }) => operation), components)
  const [shared, responses] = shareExamples([parts, components.responses] as const, components)
  const items: Record<string, OpenApiObject> = {}
  for (const [index, { path, method }] of operations.entries()) items[path] = { ...items[path], [method]: shared[index] }
  const paths = Object.fromEntries(Object.entries(items).map(([path, item]) => [path, shareParameters(item)]))
  return Object.assign(openapiObject, {
    paths,
    webhooks,
    components: { ...openapiObject.components, ...components, responses, schemas: shareFields(components.schemas) }
  })
}

/**
 * An operation with its answers and named schemas; an object in its query is written as `name[key]=value`, which OpenAPI calls deepObject.
 */
function completed ({ [answers]: noted, parameters = [], ...operation }: OpenApiObject, components: Components): OpenApiObject {
  const named = nameSchemas({ ...operation, parameters: (parameters as OpenApiObject[]).map(written) }, components) as OpenApiObject
  const body = named['requestBody'] as { content: OpenApiObject } | undefined
  return {
    ...named,
    ...body === undefined ? {} : { requestBody: { ...body, content: withExamples(body.content, components.schemas, 'body') } },
    responses: documentResponses(named['responses'] as Record<string, OpenApiObject>, noted as RouteResponses, components)
  }
}

/** A parameter as the document has it: what need not be there is not said to be so, and an object says how it is written. */
function written ({ required, ...parameter }: OpenApiObject): OpenApiObject {
  const { in: place, schema } = parameter
  return {
    ...parameter,
    ...required === true ? { required } : {},
    ...place === 'query' && (schema as OpenApiObject)['type'] === 'object' ? { style: 'deepObject', explode: true } : {}
  }
}

/** The headers that every request may have: told once, and where a request has headers of its own. In each they took a thirtieth. */
const requestHeaders = {
  'x-request-id': { type: 'string', description: 'Returned in the answer; generated if the request has none.' },
  'x-api-version': {
    type: 'string',
    enum: versionNames,
    description: 'The version for the request; by default the latest.'
  }
}

/** A route's schema with what the framework does not know of: what it answers beside its own, the headers of every request, open routes. */
function documented (schema: FastifySchema | undefined, config: FastifyContextConfig): FastifySchema {
  const { deprecated, before: next } = config
  const route = {
    ...schema,
    ...(deprecated === undefined ? {} : { deprecated: true }),
    description: [schema?.description, deprecated === undefined ? undefined : deprecationWarning(deprecated), whoMayAsk(config)]
      .filter((text) => text !== undefined).join('\n\n'),
    ...schema?.headers === undefined
      ? {}
      : { headers: { type: 'object', properties: { ...(schema.headers as TObject).properties, ...requestHeaders } } },
    ...(config.public === true ? { security: [] } : {})
  }
  return Object.assign(route, { [answers]: routeResponsesOf(config), ...next === undefined ? {} : { [before]: next } })
}
