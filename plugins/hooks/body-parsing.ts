import { boundedValidator, compile, compileQuery, hasMoreValues, mostValues, type Validator } from '@dispatch/common'
import { type DispatchError, refusal } from '@dispatch/core'
import type { FastifySchemaCompiler } from 'fastify'
import plugin from 'fastify-plugin'
import { isUtf8 } from 'node:buffer'
import { type TSchema, Type } from 'typebox'

/** Bytes of a body where no credentials are needed, unless the route says otherwise: the longest login, with every character escaped. */
const mostOfStrangers = 16 * 1024

/**
 * How requests are read: JSON in UTF-8 only, every body bounded by the same rules, every schema checked by the compiler
 * of the core, all problems told at once.
 */
export const bodyParsingPlugin = plugin((app, _options, done) => {
  app.removeAllContentTypeParsers()
  app.addHook('onRoute', (route) => {
    if (route.config?.public === true) route.bodyLimit ??= mostOfStrangers
  })
  app.addContentTypeParser('application/json', { parseAs: 'buffer' }, (_request, body, parsed) => {
    try {
      // Some clients name a type for the body that they do not send: where one is needed, its schema says so.
      parsed(null, body.length === 0 ? undefined : parseJson(body as Buffer))
    } catch (error) {
      parsed(error as Error)
    }
  })
  app.setValidatorCompiler(compileValidator)
  app.addHook('onRoute', (route) => {
    // Vendors and browsers may add to the addresses that they were given; everybody else has mistyped.
    if (route.config?.public !== true) route.schema = { querystring: NoQuery, ...route.schema }
  })
  done()
}, { name: 'bodies', fastify: '5.x' })

/** Of a route that takes no query parameters. */
const NoQuery = Type.Object({}, { additionalProperties: false })

/** Compiles the reader of one part of a request. */
export const compileValidator: FastifySchemaCompiler<TSchema> = ({ schema, httpPart = 'body' }) =>
  reader(httpPart === 'body' ? boundedValidator(compile(schema)) : compileQuery(schema), places[httpPart] ?? '')

/** Where a problem outside the body is said to be. */
const places: Record<string, string> = { querystring: '/query', headers: '/headers', params: '/path' }

type Reading = { value: unknown } | { error: Error }

function reader (check: Validator<unknown>, base: string): (value: unknown) => Reading {
  return (value) => {
    const fit = check(value, base)
    return fit.ok ? fit : { error: refusal('validation_error', fit.problems) }
  }
}

function parseJson (body: Buffer): unknown {
  if (!isUtf8(body)) throw unreadable('The body is not UTF-8.')
  if (hasMoreValues(body)) throw refusal('validation_error', [{ path: '', code: 'too_many', message: `More than ${mostValues} values.` }])
  try {
    return JSON.parse(body.toString('utf8')) as unknown
  } catch (cause) {
    throw unreadable(`The body is not JSON${placeOf(cause)}.`)
  }
}

/** Where the parser stopped, as far as it says; its sentence may also quote the body, which can hold a password. */
function placeOf (cause: unknown): string {
  const message = cause instanceof SyntaxError ? cause.message : ''
  if (message.startsWith('Unexpected end')) return ': it ends too early'
  const [place] = /line \d+ column \d+/.exec(message) ?? []
  return place === undefined ? '' : `: it cannot be read at ${place}`
}

function unreadable (message: string): DispatchError {
  return refusal('validation_error', [{ path: '', code: 'unreadable', message }])
}
