import { isUtf8 } from 'node:buffer'
import { compile, compileQuery, inspectJson, refusal, type Check, type DispatchError } from '@dispatch/core'
import plugin from 'fastify-plugin'
import type { TSchema } from 'typebox'

/**
 * How requests are read: JSON in UTF-8 only, every body bounded by the same rules, every schema checked by the compiler
 * of the core, all problems told at once.
 */
export const bodiesPlugin = plugin((app, _options, done) => {
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('application/json', { parseAs: 'buffer' }, (_request, body, parsed) => {
    try {
      parsed(null, parseJson(body as Buffer))
    } catch (error) {
      parsed(error as Error)
    }
  })
  app.setValidatorCompiler<TSchema>(({ schema, httpPart }) => httpPart === 'body' ? bodyReader(compile(schema)) : reader(compileQuery(schema), places[httpPart ?? ''] ?? ''))
  done()
}, { name: 'bodies', fastify: '5.x' })

/** Where a problem outside the body is said to be. */
const places: Record<string, string> = { querystring: '/query', headers: '/headers', params: '/path' }

type Reading = { value: unknown } | { error: Error }

function bodyReader (check: Check<unknown>): (value: unknown) => Reading {
  return (value) => {
    const fit = check(value)
    const problems = [...inspectJson(value), ...(fit.ok ? [] : fit.problems)]
    return problems.length === 0 ? { value } : { error: refusal('validation_error', problems) }
  }
}

function reader (check: Check<unknown>, base: string): (value: unknown) => Reading {
  return (value) => {
    const fit = check(value, base)
    return fit.ok ? fit : { error: refusal('validation_error', fit.problems) }
  }
}

function parseJson (body: Buffer): unknown {
  if (!isUtf8(body)) throw unreadable('The body is not UTF-8.')
  try {
    return JSON.parse(body.toString('utf8')) as unknown
  } catch (cause) {
    throw unreadable(`The body is not JSON: ${cause instanceof SyntaxError ? cause.message : 'it cannot be read'}.`)
  }
}

function unreadable (message: string): DispatchError {
  return refusal('validation_error', [{ path: '', code: 'unreadable', message }])
}
