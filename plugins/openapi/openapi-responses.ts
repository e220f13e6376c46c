import { errorRow, type ErrorWord } from '@dispatch/core'
import type { FastifyContextConfig, FastifySchema } from 'fastify'
import { STATUS_CODES } from 'node:http'
import { addComponent, type Components, type OpenApiObject } from './components.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The errors that a client can cause here, beside those that every route has. */
    errors?: readonly ErrorWord[]
    /** What is asked for again under the same idempotency key is answered as the first time. */
    replayable?: boolean
  }
}

/** What a route answers, as far as the framework does not know of it. */
export type RouteResponses = { config: FastifyContextConfig, words: readonly ErrorWord[] }

/** What every route can answer. */
const always: readonly ErrorWord[] = ['https_required', 'unsupported_version', 'internal_error', 'service_unavailable']

export function routeResponsesOf (schema: FastifySchema | undefined, config: FastifyContextConfig): RouteResponses {
  const words: ErrorWord[] = [
    ...config.errors ?? [],
    ...(schema?.body === undefined ? [] : ['validation_error', 'payload_too_large', 'unsupported_media_type'] as const),
    ...(config.public === true ? [] : ['unauthorized', 'forbidden', 'rate_limited'] as const),
    ...always
  ]
  return { config, words: [...new Set(words)] }
}

/** The answers of an operation: its own, with the headers that every answer has, and its errors, each of which the document has once. */
export function documentResponses (
  own: Readonly<Record<string, OpenApiObject>>,
  { config, words: all }: RouteResponses,
  components: Components
): Record<string, OpenApiObject> {
  const byStatus = Object.groupBy(all, (word) => errorRow(word).status)
  const errors = Object.entries(byStatus).map(([status, words = []]) =>
    [
      status,
      addComponent(components, 'responses', nameOf(status, words, config), {
        description: words.map((word) => `\`${word}\`: ${errorRow(word).when}`).join('\n\n'),
        headers: headersOf(config, components, words),
        content: { 'application/json': { schema: { $ref: '#/components/schemas/Error' } } }
      })
    ] as const
  )
  const successes = Object.entries(own).map(([status, answer]) =>
    [status, { ...answer, description: described(answer, status), headers: headersOf(config, components) }] as const
  )
  return Object.fromEntries([...errors, ...successes])
}

/** What the framework writes where the schema says nothing. */
function described ({ description }: OpenApiObject, status: string): unknown {
  return description === 'Default Response' ? STATUS_CODES[status] : description
}

/**
 * NotFound, ValidationFailedOrConfigurationMissing, UnprocessableEntityOf5: after the words that not every route has, or of more than two
 * after its status.
 */
function nameOf (status: string, words: readonly ErrorWord[], { deprecated }: FastifyContextConfig): string {
  const own = words.filter((word) => !always.includes(word))
  const name = own.length > 2
    ? `${STATUS_CODES[status]?.replaceAll(/\W/g, '') ?? ''}Of${own.length}`
    : (own.length > 0 ? own : words).map(pascal).join('Or')
  return deprecated === undefined ? name : `${name}Deprecated`
}

function pascal (word: string): string {
  return word.replaceAll(/(?:^|_)([a-z])/g, (_, letter: string) => letter.toUpperCase())
}

/** The headers of a success, or of the errors with these words. */
function headersOf (
  { limit, replayable, deprecated }: FastifyContextConfig,
  components: Components,
  words?: readonly ErrorWord[]
): OpenApiObject {
  const names = [
    'X-Request-ID',
    'X-API-Version',
    'X-API-Released',
    ...(words === undefined ? limit !== undefined : words.includes('rate_limited')) ? ['RateLimit-Policy', 'RateLimit'] as const : [],
    ...words?.some(comesBack) === true ? ['Retry-After'] as const : [],
    ...words === undefined && replayable === true ? ['Idempotency-Replayed'] as const : [],
    ...deprecated === undefined ? [] : ['X-Deprecation-Warning'] as const
  ] as const
  return Object.fromEntries(names.map((name) => [name, addComponent(components, 'headers', name, headers[name])]))
}

/** Whether its answers say when to come again. */
function comesBack (word: ErrorWord): boolean {
  return word === 'rate_limited' || errorRow(word).retryAfter !== undefined
}

const text = { type: 'string' }

const headers = {
  'X-Request-ID': { description: 'The id of the request, the client\'s own if it sent one.', schema: text },
  'X-API-Version': { description: 'The version that served the request.', schema: text },
  'X-API-Released': { description: 'The release date of that version.', schema: { type: 'string', format: 'date' } },
  'RateLimit-Policy': {
    description: 'The rate limit of the route, if it has one: `"dispatch";q=100;w=60` is 100 requests in 60 seconds.',
    schema: text
  },
  RateLimit: { description: 'The remaining requests: `"dispatch";r=42;t=17` is 42 for the next 17 seconds.', schema: text },
  'Retry-After': { description: 'Seconds until a new attempt makes sense.', schema: { type: 'integer' } },
  'Idempotency-Replayed': {
    description: '"true" if the request repeats one with the same idempotency key, also for an error.',
    schema: text
  },
  'X-Deprecation-Warning': { description: 'Since when the route is deprecated, when it is removed, and what replaces it.', schema: text }
} as const satisfies Record<string, OpenApiObject>
