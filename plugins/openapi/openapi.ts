import { ErrorBody, usualVersion, type Version, versionNames } from '@dispatch/contract'
import swagger, { type SwaggerTransformObject } from '@fastify/swagger'
import swaggerUi from '@fastify/swagger-ui'
import type { FastifyContextConfig, FastifyReply, FastifyRequest, FastifySchema } from 'fastify'
import plugin from 'fastify-plugin'
import type { TObject } from 'typebox'
import { deprecationWarning } from '../hooks/headers.ts'
import { sendTagged, type Tagged, tagged } from '../hooks/precompressed.ts'
import { permissionsPolicies } from '../permissions-policy.ts'
import { callbackOperations } from './callback-operations.ts'
import { compact } from './compact.ts'
import { type Components, emptyComponents, nameSchemas, type OpenApiObject } from './components.ts'
import { inVersion, partOf } from './editions.ts'
import { withExamples } from './examples.ts'
import { documentResponses, type RouteResponses, routeResponsesOf } from './openapi-responses.ts'
import { whoMayAsk } from './permissions.ts'
import { shareExamples, shareFields, shareParameters, shareParts } from './sharing.ts'
import { type Part, parts, tags } from './tags.ts'
import { tryFiles } from './try-files.ts'
import { tryTheme } from './try-theme.ts'

declare module 'fastify' {
  interface FastifyInstance {
    /** The document of a version, once all routes are there. */
    openapi: (version: Version) => OpenApiObject
  }
}

/**
 * The OpenAPI 3.1 document of all routes at `/openapi.json`, from the schemas that check them, and pages to try requests at `/docs/try`.
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
          `Each is there in parts, too, for whoever generates a client of less: ${
            partNames.map((part) => `\`/openapi/${usualVersion}/${part}.json\``).join(', ')
          }.\n\n` +
          'An operation is for all users where it names no role, and for the API keys that it names.\n\n' +
          'Every request may have two headers: `X-Request-ID`, which the answer returns, and `X-API-Version`, the version that ' +
          'serves it. ' +
          'The answer `default` of an operation tells the headers that every answer has.',
        contact: { name: 'Whoever runs this service', url: `${publicUrl}/.well-known/security.txt` },
        license: { name: 'Apache-2.0', identifier: 'Apache-2.0' }
      },
      externalDocs: { url: `${publicUrl}/docs/providers`, description: 'What each provider supports' },
      servers: [{ url: publicUrl }],
      security: [{ basic: [] }, { bearer: [] }, { key: [] }],
      tags: Object.entries(tags).map(([name, [, description]]) => ({ name, description })),
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
  app.decorate('openapi', (version: Version) => inVersion(app.swagger(), version))
  // Serialised once, because it is large and anonymous clients may request it as often as they like.
  const documents = new Map<string, Tagged>()
  const documentOf = (version: Version, part?: Part): Tagged => {
    const name = `${version} ${part ?? ''}`
    const document = documents.get(name) ?? serialised(part === undefined ? app.openapi(version) : partOf(app.openapi(version), part))
    documents.set(name, document)
    return document
  }
  const open = { config: { public: true }, schema: { hide: true } }
  app.get('/openapi.json', open, (request, reply) => sendDocument(request, reply, documentOf(usualVersion)))
  for (const version of versionNames) {
    app.get(`/openapi/${version}.json`, open, (request, reply) => sendDocument(request, reply, documentOf(version)))
    for (const part of partNames) {
      app.get(`/openapi/${version}/${part}.json`, open, (request, reply) => sendDocument(request, reply, documentOf(version, part)))
    }
  }
  await app.register(async (pages) => {
    pages.addHook('onRoute', (route) => {
      route.config = { ...route.config, public: true }
    })
    pages.addHook('onRequest', (_request, reply, next) => {
      reply.header('permissions-policy', permissionsPolicies.other)
      next()
    })
    await pages.register(tryFiles)
    // The basic layout is the document alone, without a field for the address of another one.
    await pages.register(swaggerUi, {
      routePrefix: '/docs/try',
      staticCSP: pagePolicy,
      theme: { title: 'Document Dispatch', ...tryTheme },
      uiConfig: { layout: 'BaseLayout', deepLinking: true, docExpansion: 'list', defaultModelsExpandDepth: 0 }
    })
  })
}, { name: 'openapi', fastify: '5.x' })

const partNames = Object.keys(parts) as Part[]

const serialised = (document: OpenApiObject): Tagged => tagged(Buffer.from(JSON.stringify(document)))

function sendDocument (request: FastifyRequest, reply: FastifyReply, document: Tagged): Promise<FastifyReply> {
  return sendTagged(request, reply.type('application/json; charset=utf-8'), document)
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
  const compacted = compact({ paths, webhooks, components: { ...openapiObject.components, ...components, responses } })
  const { schemas, ...others } = compacted['components'] as { schemas: Record<string, OpenApiObject> }
  return Object.assign(openapiObject, compacted, { components: { ...others, schemas: shareFields(schemas) } })
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

/** A route's schema with what the framework does not know of: what it answers beside its own, the headers of every request, open routes. */
function documented (schema: FastifySchema | undefined, config: FastifyContextConfig): FastifySchema {
  const { deprecated, before: next } = config
  const route = {
    ...schema,
    ...(deprecated === undefined ? {} : { deprecated: true }),
    description: [schema?.description, deprecated === undefined ? undefined : deprecationWarning(deprecated), whoMayAsk(config)]
      .filter((text) => text !== undefined).join('\n\n'),
    ...schema?.headers === undefined ? {} : { headers: withoutAliases(schema.headers as TObject) },
    ...(config.public === true ? { security: [] } : {})
  }
  return Object.assign(route, { [answers]: routeResponsesOf(config), ...next === undefined ? {} : { [before]: next } })
}

/** The headers of a request. Of two names for one header the document has the first, which tells of the other. */
function withoutAliases ({ properties, ...headers }: TObject): object {
  const { 'idempotency-key': _, ...reported } = properties
  return { ...headers, properties: reported }
}
