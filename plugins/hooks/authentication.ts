import { type Actor, type Authentication, DispatchError } from '@dispatch/core'
import type { FastifyReply, FastifyRequest } from 'fastify'
import plugin from 'fastify-plugin'

const known = Symbol('actor')

declare module 'fastify' {
  interface FastifyRequest {
    /** Who acts. Throws on a public route: nobody is known there. */
    readonly actor: Actor
    [known]: Actor | null
  }
  interface FastifyContextConfig {
    /** The route needs no credentials. */
    public?: boolean
    /** A test key may ask for it, although it changes something: what comes of it is a test. */
    testable?: boolean
  }
}

/** Who acts, as far as it is known: nobody on a public route, nor before the credentials are found right. */
export function knownActor (request: FastifyRequest): Actor | null {
  return request[known]
}

const realm = 'realm="Document Dispatch"'

/** Authenticates every request before its body is read, but those of routes with `config: { public: true }`. */
export const authenticationPlugin = plugin<{ authentication: Authentication }>((app, { authentication }, done) => {
  app.decorateRequest(known, null)
  app.decorateRequest('actor', {
    getter () {
      const actor = this[known]
      if (actor === null) throw new Error(`${this.method} ${this.routeOptions.url ?? ''} is public: it has no actor.`)
      return actor
    }
  })
  app.addHook('onRequest', async (request) => {
    if (request.routeOptions.config.public === true) return
    const actor = await authentication.authenticate(request.headers.authorization, request.ip)
    if (actor.key?.mode === 'test') requireTestable(request)
    request[known] = actor
    // From the root: a child of the request's own logger, which is a child itself, would cost ten times as much.
    request.log = app.log.child({
      requestId: request.id,
      companyId: actor.companyId,
      userId: actor.userId,
      ...actor.key && { keyId: actor.key.id }
    })
  })
  app.addHook('onSend', (request, reply, payload, next) => {
    if (reply.statusCode === 401) challenge(request, reply)
    next(null, payload)
  })
  done()
}, { name: 'authentication', fastify: '5.x' })

/** Nothing that is real may come of a test key. */
function requireTestable ({ method, routeOptions: { config } }: FastifyRequest): void {
  if (method === 'GET' || method === 'HEAD' || config.testable === true) return
  throw new DispatchError('forbidden', 'A test key dispatches, validates and reads: for anything else, use a live key or the password.')
}

/** Every 401 names the schemes that would be accepted (RFC 9110, 11.6.1; RFC 6750, 3). */
function challenge ({ headers }: FastifyRequest, reply: FastifyReply): void {
  const refused = /^bearer /i.test(headers.authorization ?? '') ? ', error="invalid_token"' : ''
  reply.header('www-authenticate', [`Basic ${realm}, charset="UTF-8"`, `Bearer ${realm}${refused}`])
}
