import { randomUUID } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { DispatchError, didYouMean } from '@dispatch/core'
import type { FastifyReply, FastifyRequest } from 'fastify'
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

/** The headers of every answer: which request it answers, which version served it; and what is a company's is not kept by anybody else. */
export const headersPlugin = plugin((app, _options, done) => {
  app.decorateRequest('apiVersion', latest)
  app.addHook('onRequest', (request, reply, next) => {
    const asked = request.headers['x-api-version']
    const known = asked === undefined ? latest : versionOf(String(asked))
    request.apiVersion = known ?? latest
    identify(request, reply)
    if (request.routeOptions.config.public !== true) reply.header('cache-control', 'no-store')
    next(known === undefined ? unsupported(String(asked)) : undefined)
  })
  done()
}, { name: 'headers', fastify: '5.x' })

/** X-Request-ID, X-API-Version and X-API-Released; and that browsers take the content for what its type says. */
export function identify ({ id, apiVersion }: Pick<FastifyRequest, 'id' | 'apiVersion'>, reply: FastifyReply): void {
  reply.headers({ 'x-request-id': id, 'x-api-version': apiVersion, 'x-api-released': versions[apiVersion], 'x-content-type-options': 'nosniff' })
}

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
