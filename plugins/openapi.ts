import swagger, { type SwaggerTransformObject } from '@fastify/swagger'
import swaggerUi from '@fastify/swagger-ui'
import { ErrorBody, errorRow, errorTable, latestVersion, versions, type ErrorWord } from '@dispatch/core'
import type { FastifyContextConfig, FastifySchema } from 'fastify'
import plugin from 'fastify-plugin'
import type { TObject } from 'typebox'
import { warningOf } from './headers.ts'
import { sendWritten, write, type Written } from './written.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The errors that a client can cause here, beside those that every route has. */
    errors?: readonly ErrorWord[]
    /** The headers of its answer, beside those that every answer has. */
    answerHeaders?: Readonly<Record<string, object>>
  }
}

/** The OpenAPI 3.1 document of all routes at `/openapi.json`, from the schemas that check them, and pages to read it at `/docs`. */
export const openapiPlugin = plugin<{ publicUrl: string }>(async (app, { publicUrl }) => {
  app.addSchema({ ...ErrorBody, $id: 'Error' })
  await app.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: {
        title: 'Document Dispatch',
        version: latestVersion,
        description: 'Takes a template and its data, makes the document and dispatches it through a provider.',
        license: { name: 'Apache-2.0', identifier: 'Apache-2.0' }
      },
      externalDocs: { url: `${publicUrl}/docs/providers`, description: 'What each provider supports' },
      servers: [{ url: publicUrl }],
      security: [{ basic: [] }, { bearer: [] }, { key: [] }],
      components: {
        securitySchemes: {
          basic: { type: 'http', scheme: 'basic', description: 'E-mail address and password.' },
          bearer: { type: 'http', scheme: 'bearer', description: 'An access token of `POST /auth`, good for 120 minutes.' },
          key: { type: 'http', scheme: 'bearer', bearerFormat: 'dk_live_…, dk_test_…', description: 'An API key of `POST /api/v1/keys`; also as the user name of Basic, without a password.' }
        }
      }
    },
    refResolver: { buildLocalReference: (schema, _base, _fragment, index) => typeof schema['$id'] === 'string' ? schema['$id'] : `schema-${String(index)}` },
    transform: ({ schema, url, route }) => ({ url, schema: documented(schema, route.config ?? {}) }),
    transformObject: describeQueries
  })
  // Written once: it is large, and strangers may ask for it as often as they like.
  let written: Written | undefined
  app.get('/openapi.json', { config: { public: true }, schema: { hide: true } }, (request, reply) => sendWritten(request, reply, written ??= write(app.swagger())))
  await app.register(async (pages) => {
    pages.addHook('onRoute', (route) => { route.config = { ...route.config, public: true } })
    // The basic layout is the document alone, without a field for the address of another one.
    await pages.register(swaggerUi, { routePrefix: '/docs', staticCSP: pagePolicy, theme: { title: 'Document Dispatch' }, uiConfig: { layout: 'BaseLayout', deepLinking: true, docExpansion: 'list', defaultModelsExpandDepth: 0 } })
  })
}, { name: 'openapi', fastify: '5.x' })

/** The pages load nothing from elsewhere; their library sets styles in the markup. */
const pagePolicy = {
  'default-src': "'none'",
  'script-src': "'self'",
  'style-src': "'self' 'unsafe-inline'",
  'img-src': "'self' data:",
  'connect-src': "'self'",
  'base-uri': "'none'",
  'form-action': "'none'",
  'frame-ancestors': "'none'"
}

/** An object in a query is written as `name[key]=value`, which OpenAPI calls deepObject. */
const describeQueries: SwaggerTransformObject = (document) => {
  if (!('openapiObject' in document)) return document.swaggerObject
  for (const path of Object.values(document.openapiObject.paths ?? {})) {
    for (const parameter of path?.get?.parameters ?? []) {
      if ('schema' in parameter && 'type' in parameter.schema && parameter.schema.type === 'object') Object.assign(parameter, { style: 'deepObject', explode: true })
    }
  }
  return document.openapiObject
}

/** The headers that every request may have. */
const requestHeaders = {
  'x-request-id': { type: 'string', description: 'Comes back in the answer; one is made where there is none.' },
  'x-api-version': { type: 'string', enum: Object.keys(versions), description: 'The version that shall serve the request: the latest unless given.' }
}

/** The headers of every answer. */
const headers = {
  'X-Request-ID': { type: 'string', description: 'The id of the request, the client\'s own if it sent one.' },
  'X-API-Version': { type: 'string', description: 'The version that served the request.' },
  'X-API-Released': { type: 'string', format: 'date', description: 'The day of its release.' }
}

const limited = {
  'RateLimit-Policy': { type: 'string', description: 'The limit: `"dispatch";q=100;w=60` is 100 in 60 seconds.' },
  RateLimit: { type: 'string', description: 'What is left of it: `"dispatch";r=42;t=17` is 42 for the next 17 seconds.' }
}
const retry = { 'Retry-After': { type: 'integer', description: 'Seconds until it is worth another try.' } }
const deprecation = { 'X-Deprecation-Warning': { type: 'string', description: 'Since when the route is deprecated, when it goes, and what takes its place.' } }

/** The headers of a route's answers. */
function headersOf ({ answerHeaders, limit, deprecated }: FastifyContextConfig): object {
  return { ...headers, ...answerHeaders, ...limit === undefined ? {} : limited, ...deprecated === undefined ? {} : deprecation }
}

/** Whether its answers say when to come again. */
function comesBack (word: ErrorWord): boolean {
  return word === 'rate_limited' || errorRow(word).retryAfter !== undefined
}

/** A route's schema with what the framework does not know of: its errors, the headers of every answer, open routes. */
function documented (schema: FastifySchema | undefined, config: FastifyContextConfig): FastifySchema {
  const words: ErrorWord[] = [
    ...config.errors ?? [],
    ...(schema?.body === undefined ? [] : ['validation_error', 'payload_too_large', 'unsupported_media_type'] as const),
    ...(config.public === true ? [] : ['unauthorized', 'forbidden', 'rate_limited'] as const),
    'https_required',
    'unsupported_version',
    'internal_error',
    'service_unavailable'
  ]
  const byStatus = Object.groupBy(words, (word) => errorTable[word].status)
  const errors = Object.entries(byStatus).map(([status, found]) => [status, {
    description: [...new Set(found)].map((word) => `\`${word}\`: ${errorTable[word].when}`).join('\n\n'),
    headers: { ...headersOf(config), ...(found.includes('rate_limited') ? limited : {}), ...(found.some(comesBack) ? retry : {}) },
    $ref: 'Error#'
  }])
  const answers = Object.entries(schema?.response ?? {}).map(([status, answer]) => [status, { ...answer as object, headers: headersOf(config) }])
  return {
    ...schema,
    ...(config.deprecated === undefined ? {} : { deprecated: true, description: [schema?.description, warningOf(config.deprecated)].filter((text) => text !== undefined).join('\n\n') }),
    headers: { type: 'object', properties: { ...(schema?.headers as TObject | undefined)?.properties, ...requestHeaders } },
    ...(config.public === true ? { security: [] } : {}),
    response: { ...Object.fromEntries(answers) as object, ...Object.fromEntries(errors) as object }
  }
}
