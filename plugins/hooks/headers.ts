import { DispatchError, usualVersion, type Version, versionOf, versions } from '@dispatch/contract'
import type { FastifyReply, FastifyRequest } from 'fastify'
import plugin from 'fastify-plugin'
import { randomUUID } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { type ClassifyConnection, type ConnectionKind, httpsRequired } from './https.ts'
import { isOwn } from './own-request.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** The version that serves the request. */
    apiVersion: Version
  }
  interface FastifyContextConfig {
    /** The route is deprecated: since the day `since`, removed on the day `sunset` (dates such as 2026-03-14), replaced by `instead`. */
    deprecated?: Deprecation
    /** A health check: a trusted proxy may request it over plain HTTP. */
    probe?: boolean
  }
}

export type Deprecation = { since: string, sunset: string, instead: string }

/**
 * Sets the headers of every answer: the request's id, the version of the API, and `no-store` for a company's data. Refuses requests over
 * plain HTTP and cross-site requests of browsers, before their credentials are read.
 */
export const headersPlugin = plugin<{ wayOf: ClassifyConnection }>((app, { wayOf }, done) => {
  app.decorateRequest('apiVersion', usualVersion)
  app.addHook('onRequest', (request, reply, next) => {
    const requested = request.headers['x-api-version']
    const known = requested === undefined ? usualVersion : versionOf(String(requested))
    request.apiVersion = known ?? usualVersion
    // What the service sends to itself belongs to a request that has passed this hook, and no browser reads its headers.
    const own = isOwn(request.raw)
    const way = own ? 'local' : wayOf(request.raw)
    if (!own) identify(request, reply, way)
    const { deprecated } = request.routeOptions.config
    if (deprecated !== undefined) reply.header('x-deprecation-warning', deprecationWarning(deprecated))
    if (request.routeOptions.config.public !== true) reply.header('cache-control', 'no-store')
    if (!isServed(way, request)) next(httpsRequired())
    else if (isForged(request)) next(forged())
    else next(known === undefined ? unsupported(String(requested)) : undefined)
  })
  done()
}, { name: 'headers', fastify: '5.x' })

/** A browser must not guess the content type, load anything with the answer, show it in a frame, or send its URL as a referrer. */
const strict = {
  'x-content-type-options': 'nosniff',
  'content-security-policy': 'default-src \'none\'; frame-ancestors \'none\'',
  'x-frame-options': 'DENY',
  'referrer-policy': 'no-referrer',
  'cross-origin-resource-policy': 'same-origin'
}

/** For a year (in seconds) browsers use only HTTPS for this host (RFC 6797). */
const encryptedOnly = { 'strict-transport-security': 'max-age=31536000' }

/** Sets X-Request-ID, X-API-Version, X-API-Released, and the headers that restrict browsers. */
export function identify ({ id, apiVersion }: Pick<FastifyRequest, 'id' | 'apiVersion'>, reply: FastifyReply, way: ConnectionKind): void {
  reply.headers({
    'x-request-id': id,
    'x-api-version': apiVersion,
    'x-api-released': versions[apiVersion],
    ...strict,
    ...(way === 'encrypted' ? encryptedOnly : {})
  })
}

function isServed (way: ConnectionKind, { routeOptions: { config } }: FastifyRequest): boolean {
  return way === 'probe' ? config.probe === true : way !== 'plain'
}

/** Methods that change nothing (RFC 9110, 9.2.1). */
const safe = new Set(['GET', 'HEAD', 'OPTIONS', 'TRACE'])

/**
 * Whether a page of another site makes a browser send a request that changes something (W3C Fetch Metadata). A browser that remembers Basic
 * credentials would add them. Only browsers send the header, and pages cannot change it.
 */
function isForged ({ method, headers }: FastifyRequest): boolean {
  const site = headers['sec-fetch-site']
  return (site === 'cross-site' || site === 'same-site') && !safe.has(method)
}

function forged (): DispatchError {
  return new DispatchError('forbidden',
    'A page of another site may not make a browser send this request: call the service from a program, or from its own pages.')
}

/** The client's X-Request-ID if it is at most 128 safe characters, else a new UUID. */
export function requestId ({ headers }: Pick<IncomingMessage, 'headers'>): string {
  const given = headers['x-request-id']
  return typeof given === 'string' && /^[\w.:/+=-]{1,128}$/.test(given) ? given : randomUUID()
}

/** One sentence in visible ASCII, because it is the value of a header. */
export function deprecationWarning ({ since, sunset, instead }: Deprecation): string {
  return `Deprecated since ${since}, removed on ${sunset}: use ${instead}.`
}

function unsupported (requested: string): DispatchError {
  const known = Object.keys(versions)
  return new DispatchError('unsupported_version',
    `X-API-Version "${requested.slice(0, 20)}" does not exist; there are ${known.join(' and ')}.`)
}
