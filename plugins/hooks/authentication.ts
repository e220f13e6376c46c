import { type Actor, type Authentication, requireEveryService, requirePerson, requireRole, requireScope } from '@dispatch/accounts'
import { DispatchError, type KeyScope, type Role } from '@dispatch/contract'
import type { FastifyReply, FastifyRequest } from 'fastify'
import plugin from 'fastify-plugin'
import { isOwn, ownActor } from './own-request.ts'

const known = Symbol('actor')

declare module 'fastify' {
  interface FastifyRequest {
    /** Who makes the request. Throws on a public route, where nobody is authenticated. */
    readonly actor: Actor
    /** For a route whose `freshProof` is `in part`: looks the actor up again, and throws where they have not proved lately who they are. */
    requireFreshProof: () => Promise<void>
    [known]: Actor | null
  }
  interface FastifyContextConfig {
    /** The route needs no credentials. */
    public?: boolean
    /** A test key may use this route although it changes something, because the result is a test. */
    testable?: boolean
    /** Who may ask for it; anybody of the company unless told. */
    roles?: readonly Role[]
    /** The scopes of API keys of which one is enough, or `any`. Where nothing is said, no key may ask for it. */
    scopes?: readonly KeyScope[] | 'any'
    /** It is about dispatches of every service: who may not use them all may not ask for it. `of keys`: no key of some services may. */
    everyService?: true | 'of keys'
    /** It needs the password of a person: no program may ask for it. */
    person?: boolean
    /**
     * It adds, changes or shows a credential, an e-mail address, a key or a secret: it needs a person who has proved within the last five
     * minutes who they are. Whoever has only found a token or a session gets no lasting way in by it. A list: where the body has one of
     * these fields. `in part`: where the route finds that it is so.
     */
    freshProof?: true | 'in part' | readonly string[]
    /** A person who lacks the second factor that their company demands may ask for it. */
    enrolment?: boolean
  }
}

/** Who makes the request; null on a public route, and before the credentials are verified. */
export function knownActor (request: FastifyRequest): Actor | null {
  return request[known]
}

const realm = 'realm="Document Dispatch"'
const stepUp =
  ', error="insufficient_user_authentication", error_description="A login within the last 5 minutes is required", max_age="300"'

/** Authenticates every request, but those of routes with `config: { public: true }`. */
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
    const actor = ownActor(request.raw) ?? await authentication.authenticate(request.headers.authorization, request.ip)
    request[known] = actor
    // A child of the root logger: a child of the request's logger, itself a child, would cost ten times as much.
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

/**
 * Checks the role, and for a key the scope, that the route needs: after the limits, so that refusals are limited too, and before the body
 * is read: who may not ask does not learn what the body should be.
 */
export const authorizationPlugin = plugin<{ authentication: Authentication, now: () => Date }>((app, { authentication, now }, done) => {
  app.addHook('onRequest', (request, _reply, next) => {
    // Where there is no route, there is nothing to permit: it is a 404.
    if (request[known] !== null && !request.is404) authorize(request[known], request, now)
    next()
  })
  // A body may take minutes, in which all that its sender came with may have been taken away: what needs a proof asks again after it.
  app.decorateRequest('requireFreshProof', async function () {
    const actor = isOwn(this.raw) ? this.actor : await authentication.authenticate(this.headers.authorization, this.ip)
    authorize(actor, this, now)
    requireFreshProof(actor, now)
    this[known] = actor
  })
  app.addHook('preHandler', async (request) => {
    const { freshProof } = request.routeOptions.config
    if (freshProof === true || Array.isArray(freshProof) && hasAny(request.body, freshProof)) await request.requireFreshProof()
  })
  done()
}, { name: 'authorization', fastify: '5.x', dependencies: ['authentication'] })

/** In seconds. */
const proofLasts = 300

/**
 * Throws `forbidden` where the route is not for the actor, and `fresh_proof_required` where a person must prove again who they are. A key
 * needs one of the route's scopes: a route without any is for people.
 */
function authorize (actor: Actor, request: FastifyRequest, now: () => Date): void {
  const { roles, person, scopes = [], everyService, freshProof, enrolment } = request.routeOptions.config
  if (actor.key?.mode === 'test') requireTestable(request)
  if (roles !== undefined) requireRole(actor, ...roles)
  if (person === true || freshProof === true) requirePerson(actor)
  requireScope(actor, scopes)
  if (everyService === true || everyService === 'of keys' && actor.key !== undefined) requireEveryService(actor)
  if (actor.lacksSecondFactor === true && enrolment !== true) {
    throw new DispatchError('forbidden',
      'The company demands a second factor, and this user has none: set one up at the console, or with POST /api/v1/my/second-factor.')
  }
  if (freshProof === true) requireFreshProof(actor, now)
}

function requireFreshProof (actor: Actor, now: () => Date): void {
  requirePerson(actor)
  if (now().getTime() - (actor.provedAt?.getTime() ?? 0) <= proofLasts * 1000) return
  throw new DispatchError('fresh_proof_required',
    'This needs a proof of who you are that is at most 5 minutes old: log in again with POST /auth, and repeat the request with the ' +
      'new token; or send e-mail address and password with Basic.')
}

function hasAny (body: unknown, fields: readonly string[]): boolean {
  return typeof body === 'object' && body !== null && fields.some((field) => Object.hasOwn(body, field))
}

/** A test key must have no real effect. */
function requireTestable ({ method, routeOptions: { config } }: FastifyRequest): void {
  if (method === 'GET' || method === 'HEAD' || config.testable === true) return
  throw new DispatchError('forbidden', 'A test key dispatches, validates and reads: for anything else, use a live key or the password.')
}

/**
 * Every 401 lists the accepted schemes (RFC 9110, 11.6.1; RFC 6750, 3), and says where the login of a token is too old (RFC 9470, 3). A
 * script in a page gets Basic unlisted: the browser would ask the person for a password, and remember it.
 */
function challenge ({ headers, errorWord }: FastifyRequest, reply: FastifyReply): void {
  const refused = /^bearer /i.test(headers.authorization ?? '') ? ', error="invalid_token"' : ''
  const bearer = `Bearer ${realm}${errorWord === 'fresh_proof_required' ? stepUp : refused}`
  reply.header('www-authenticate', isOfScript(headers) ? [bearer] : [`Basic ${realm}, charset="UTF-8"`, bearer])
}

/** Whether a script, or the content of a page, makes a browser send the request, and not a person's navigation (W3C Fetch Metadata). */
function isOfScript ({ 'sec-fetch-mode': mode }: FastifyRequest['headers']): boolean {
  return mode !== undefined && mode !== 'navigate'
}
