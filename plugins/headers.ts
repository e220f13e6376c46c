import { randomUUID } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { DispatchError, didYouMean } from '@dispatch/core'
import plugin from 'fastify-plugin'

/** The versions of the API, with the day of their release. The last one serves requests that name none. */
export const versions = { '1.0.0': '2026-02-13', '1.0.1': '2026-03-14' } as const
type Version = keyof typeof versions
const latest: Version = '1.0.1'

declare module 'fastify' {
  interface FastifyRequest {
    /** The version that serves the request. */
    apiVersion: Version
  }
}

/** X-Request-ID, X-API-Version and X-API-Released on every answer. */
export const headersPlugin = plugin((app, _options, done) => {
  app.decorateRequest('apiVersion', latest)
  app.addHook('onRequest', (request, reply, next) => {
    reply.header('x-request-id', request.id)
    const asked = request.headers['x-api-version']
    const known = asked === undefined ? latest : versionOf(String(asked))
    const version = known ?? latest
    request.apiVersion = version
    reply.header('x-api-version', version).header('x-api-released', versions[version])
    next(known === undefined ? unsupported(String(asked)) : undefined)
  })
  done()
}, { name: 'headers', fastify: '5.x' })

/** The client's X-Request-ID if it is a plain word, else one of our own. */
export function requestId ({ headers }: Pick<IncomingMessage, 'headers'>): string {
  const given = headers['x-request-id']
  return typeof given === 'string' && /^[\w.:/+=-]{1,128}$/.test(given) ? given : randomUUID()
}

function versionOf (asked: string): Version | undefined {
  return Object.hasOwn(versions, asked) ? asked as Version : undefined
}

function unsupported (asked: string): DispatchError {
  const known = Object.keys(versions)
  return new DispatchError('unsupported_version', `X-API-Version "${asked.slice(0, 20)}" does not exist${didYouMean(asked, known)}; there are ${known.join(' and ')}.`)
}
