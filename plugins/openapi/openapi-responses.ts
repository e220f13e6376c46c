import { type ErrorBody, errorRow, type ErrorWord } from '@dispatch/contract'
import type { FastifyContextConfig } from 'fastify'
import { isDeepStrictEqual } from 'node:util'
import { addComponent, type Components, type OpenApiObject } from './components.ts'
import { withExamples } from './examples.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The errors that a client can cause here, beside those that every route has. */
    errors?: readonly ErrorWord[]
    /** What is asked for again under the same idempotency key is answered as the first time. */
    replayable?: boolean
  }
}

/** What a route answers, as far as the framework does not know of it. */
export type RouteResponses = { config: FastifyContextConfig, own: readonly ErrorWord[] }

/**
 * What any operation answers: `validation_error` where it has a body, `forbidden` where it needs credentials. It is told once, as the
 * "default" of each: in every operation it took a tenth of the document.
 */
const common: readonly ErrorWord[] = [
  'validation_error',
  'unsupported_version',
  'unauthorized',
  'forbidden',
  'https_required',
  'payload_too_large',
  'unsupported_media_type',
  'rate_limited',
  'internal_error',
  'service_unavailable'
]

export function routeResponsesOf (config: FastifyContextConfig): RouteResponses {
  const own: ErrorWord[] = [
    ...config.errors ?? [],
    ...(config.freshProof !== undefined ? ['fresh_proof_required'] as const : [])
  ]
  return { config, own: [...new Set(own)] }
}

/**
 * The answers of an operation: its own, and its errors, each of which the document has once. Errors of several statuses of one kind stand
 * together, at `4XX` or `5XX`: one by one they took a tenth of the document. A status of its own has the common words of that status, too.
 */
export function documentResponses (
  answers: Readonly<Record<string, OpenApiObject>>,
  { config, own }: RouteResponses,
  components: Components
): Record<string, OpenApiObject> {
  const rest = own.filter((word) => !common.includes(word))
  // Linters want to see one error of a client at each operation.
  const further: readonly ErrorWord[] = rest.some((word) => statusOf(word) < 500) ? rest : ['https_required', ...rest]
  const besides = common.filter((word) => !further.includes(word) && further.some((other) => statusOf(other) === statusOf(word)))
  const byKind = Object.groupBy([...further, ...besides], (word) => `${kindOf(word)}XX`)
  const errors = Object.entries(byKind).map(([kind, words = []]) => {
    const [status = 500, ...others] = new Set(words.map(statusOf))
    const isOne = others.length === 0
    const response = isOne
      ? errorResponse(words, config, components, words.map((word) => `\`${word}\`: ${errorRow(word).when}`).join('\n\n'))
      : errorResponse(words, config, components, `${words.map(withStatus).join(', ')}, and the errors of \`default\`.`)
    const name = freeName(nameOf(words, config), response, components)
    return [isOne ? String(status) : kind, addComponent(components, 'responses', name, response)] as const
  })
  const others = addComponent(components, 'responses', named('CommonError', config),
    errorResponse(common, config, components, common.map((word) => `${withStatus(word)}: ${errorRow(word).when}`).join('\n\n')))
  const successes = Object.entries(answers).map(([status, answer]) =>
    [status, {
      ...answer,
      description: described(answer),
      ...answer['content'] === undefined
        ? {}
        : { content: withExamples(answer['content'] as OpenApiObject, components.schemas, 'answer') },
      ...headersOf(config, components)
    }] as const
  )
  return Object.fromEntries([...errors, ...successes, ['default', others] as const])
}

function errorResponse (
  words: readonly ErrorWord[],
  config: FastifyContextConfig,
  components: Components,
  description: string
): OpenApiObject {
  return {
    description,
    ...headersOf(config, components, words),
    content: {
      'application/json': {
        schema: { $ref: '#/components/schemas/Error' },
        // One of them: the others differ in their word and message, and the schema of words says what each means.
        examples: Object.fromEntries(
          words.slice(0, 1).map((word) => [word, addComponent(components, 'examples', word, errorExample(word))])
        )
      }
    }
  }
}

function errorExample (error: ErrorWord): { summary: string, value: ErrorBody } {
  const value = { error, message: errorRow(error).when, requestId: '8fd5f189-aaf0-4182-aeba-7bbaa0ea7d9b' }
  return { summary: `${error} (${statusOf(error)})`, value }
}

function statusOf (word: ErrorWord): number {
  return errorRow(word).status
}

/** 4 for what a client does wrong, 5 for the others. */
function kindOf (word: ErrorWord): number {
  return Math.floor(statusOf(word) / 100)
}

function withStatus (word: ErrorWord): string {
  return `\`${word}\` (${statusOf(word)})`
}

/** The same for each status where the schema says nothing: what is answered so is there once. */
function described ({ description }: OpenApiObject): unknown {
  return description === 'Default Response' ? 'Done.' : description
}

/** NotFound, ValidationFailedOrProviderError, ConflictOrOther: a name that has all of many words takes more room than what it names. */
function nameOf (words: readonly ErrorWord[], config: FastifyContextConfig): string {
  const [first = 'internal_error', ...further] = words
  const others = further.filter((word) => !common.includes(word))
  return named([first, ...others.length > 1 ? ['other'] : others].map(pascal).join('Or'), config)
}

/** The name, or the next one with a number that nothing else has. */
function freeName (name: string, response: OpenApiObject, { responses }: Components): string {
  for (let nth = 1;; nth++) {
    const free = nth === 1 ? name : `${name}${nth}`
    if (responses[free] === undefined || isDeepStrictEqual(responses[free], response)) return free
  }
}

function named (name: string, { deprecated }: FastifyContextConfig): string {
  return deprecated === undefined ? name : `${name}Deprecated`
}

function pascal (word: string): string {
  return word.replaceAll(/(?:^|_)([a-z])/g, (_, letter: string) => letter.toUpperCase())
}

/**
 * The headers of a success, or of the errors with these words, beside those that every answer has. The default of an operation tells
 * these, once: in every answer they took a tenth of the document.
 */
function headersOf (
  { replayable, deprecated }: FastifyContextConfig,
  components: Components,
  words?: readonly ErrorWord[]
): { headers?: OpenApiObject } {
  const names = [
    ...words === common ? everyAnswer : [],
    ...words?.some(comesBack) === true ? ['Retry-After'] as const : [],
    ...words === undefined && replayable === true ? ['Idempotency-Replayed'] as const : [],
    ...deprecated === undefined ? [] : ['X-Deprecation-Warning'] as const
  ] as const
  if (names.length === 0) return {}
  return { headers: Object.fromEntries(names.map((name) => [name, addComponent(components, 'headers', name, headers[name])])) }
}

const everyAnswer = ['X-Request-ID', 'X-API-Version', 'X-API-Released', 'RateLimit-Policy', 'RateLimit'] as const

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
