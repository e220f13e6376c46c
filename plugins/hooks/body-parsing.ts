import { boundedValidator, compile, compileQuery, hasMoreValues, jsonLimits, maxValues, type Validator } from '@dispatch/common'
import { type DispatchError, refusal } from '@dispatch/contract'
import { errorCodes, type FastifyRequest, type FastifySchemaCompiler } from 'fastify'
import plugin from 'fastify-plugin'
import { isUtf8 } from 'node:buffer'
import type { Readable } from 'node:stream'
import { type TSchema, Type } from 'typebox'
import { decoded } from './content-encoding.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** The size of the decoded body in bytes; undefined before it is decoded. */
    decodedSize?: number
  }
}

/** Largest body of a public route in bytes, unless the route sets its own: the longest login with every character escaped. */
const publicBodyLimit = 16 * 1024

/**
 * How requests are read: only JSON in UTF-8, compressed or not; the same size rules for every body; every schema checked by the core's
 * compiler; all problems reported at once.
 */
export const bodyParsingPlugin = plugin((app, _options, done) => {
  app.removeAllContentTypeParsers()
  app.decorateRequest('decodedSize')
  app.addHook('onRoute', (route) => {
    if (route.config?.public === true) route.bodyLimit ??= publicBodyLimit
  })
  app.addContentTypeParser('application/json', { parseAs: 'buffer' }, async (request: FastifyRequest, body: Buffer) => {
    const bytes = await decoded(body, request.headers['content-encoding'], request.routeOptions.bodyLimit)
    request.decodedSize = bytes.length
    // Some clients send a content type but no body. Where a body is required, the schema reports it.
    return bytes.length === 0 ? undefined : parseJson(bytes)
  })
  // Clients that send no body often name a type all the same, such as that of a form, or one that is none.
  app.addContentTypeParser('*', async (request: FastifyRequest, body: Readable) => {
    if (!await isEmpty(request, body)) throw new errorCodes.FST_ERR_CTP_INVALID_MEDIA_TYPE()
    return undefined
  })
  app.addHook('preParsing', (request, _reply, _body, next) => {
    const { headers } = request
    if (headers['content-type'] !== undefined && request.mediaType === undefined && lengthOf(request) === 0) delete headers['content-type']
    next()
  })
  app.setValidatorCompiler(compileValidator)
  app.addHook('onRoute', (route) => {
    // Vendors and browsers may add query parameters to a URL; from everybody else an unknown parameter is a mistake.
    if (route.config?.public === true) return
    route.schema = { querystring: NoQuery, ...route.schema }
    const { additionalProperties } = route.schema.querystring as { additionalProperties?: boolean }
    if (additionalProperties !== false) throw new Error(`${route.url}: its query has no additionalProperties: false`)
  })
  done()
}, { name: 'body-parsing', fastify: '5.x' })

/** The bytes of a body; undefined where its end alone tells. */
function lengthOf ({ headers: { 'content-length': length, 'transfer-encoding': streamed } }: FastifyRequest): number | undefined {
  return streamed === undefined ? Number(length ?? 0) : undefined
}

/** The first piece is read of a body whose length is not known. The request goes on, so that it can be answered. */
async function isEmpty (request: FastifyRequest, body: Readable): Promise<boolean> {
  const length = lengthOf(request)
  if (length !== undefined) return length === 0
  const { done = false } = await body.iterator({ destroyOnReturn: false }).next()
  return done
}

/** The query schema of a route that takes no query parameters. */
const NoQuery = Type.Object({}, { additionalProperties: false })

/** Compiles the validator of one part of a request. */
export const compileValidator: FastifySchemaCompiler<TSchema> = ({ schema, httpPart = 'body' }) =>
  reader(httpPart === 'body' ? boundedValidator(compile(schema), maxItemsIn(schema)) : compileQuery(schema), pathPrefixes[httpPart] ?? '')

/** A list of a body may be as long as its schema says, where that is longer than those of other JSON. */
function maxItemsIn ({ properties = {} }: TSchema & { properties?: Record<string, { maxItems?: number }> }): number {
  return Math.max(jsonLimits.arrayItems, ...Object.values(properties).map(({ maxItems = 0 }) => maxItems))
}

/** How the path of a problem outside the body begins. */
const pathPrefixes: Record<string, string> = { querystring: '/query', headers: '/headers', params: '/path' }

type Reading = { value: unknown } | { error: Error }

function reader (check: Validator<unknown>, base: string): (value: unknown) => Reading {
  return (value) => {
    const fit = check(value, base)
    return fit.ok ? fit : { error: refusal('validation_error', fit.problems) }
  }
}

/** The mark of UTF-8, which .NET and Excel write before a text. RFC 8259, 8.1, permits to ignore it. */
const mark = Buffer.from('\ufeff')

function parseJson (bytes: Buffer): unknown {
  const body = bytes.subarray(0, mark.length).equals(mark) ? bytes.subarray(mark.length) : bytes
  if (!isUtf8(body)) throw unreadable('The body is not UTF-8.')
  if (hasMoreValues(body)) throw refusal('validation_error', [{ path: '', code: 'too_many', message: `More than ${maxValues} values.` }])
  try {
    return JSON.parse(body.toString('utf8')) as unknown
  } catch (cause) {
    throw unreadable(`The body is not JSON${placeOf(cause)}.`)
  }
}

/** The position where the parser stopped, if its message has one. The message itself may quote the body, which can hold a password. */
function placeOf (cause: unknown): string {
  const message = cause instanceof SyntaxError ? cause.message : ''
  if (message.startsWith('Unexpected end')) return ': it ends too early'
  const [place] = /line \d+ column \d+/.exec(message) ?? []
  return place === undefined ? '' : `: it cannot be read at ${place}`
}

function unreadable (message: string): DispatchError {
  return refusal('validation_error', [{ path: '', code: 'unreadable', message }])
}
