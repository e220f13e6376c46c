import { didYouMean } from '@dispatch/common'
import { DispatchError, latestVersion, type Version, versionOf, versions } from '@dispatch/core'
import type { FastifyReply, FastifyRequest } from 'fastify'
import plugin from 'fastify-plugin'
import { randomUUID } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { type ClassifyConnection, type ConnectionKind, httpsRequired } from './https.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** The version that serves the request. */
    apiVersion: Version
  }
  interface FastifyContextConfig {
    /**
     * The route is on its way out: announced on the day `since`, gone on the day `sunset` (both as 2026-03-14); `instead`: what takes its
     * place.
     */
    deprecated?: Deprecation
    /** A trusted proxy asks for it by itself, over plain HTTP. */
    probe?: boolean
  }
}

export type Deprecation = { since: string, sunset: string, instead: string }

/**
 * The headers of every answer: which request it answers, which version served it; and what is a company's is not kept by
 * anybody else. What came over plain HTTP, or was forged by the page of another site, is refused here, before its credentials are looked
 * at.
 */
export const headersPlugin = plugin<{ wayOf: ClassifyConnection }>((app, { wayOf }, done) => {
  app.decorateRequest('apiVersion', latestVersion)
  app.addHook('onRequest', (request, reply, next) => {
    const asked = request.headers['x-api-version']
    const known = asked === undefined ? latestVersion : versionOf(String(asked))
    request.apiVersion = known ?? latestVersion
    const way = wayOf(request.raw)
    identify(request, reply, way)
    const { deprecated } = request.routeOptions.config
    if (deprecated !== undefined) reply.header('x-deprecation-warning', deprecationWarning(deprecated))
    if (request.routeOptions.config.public !== true) reply.header('cache-control', 'no-store')
    if (!isServed(way, request)) next(httpsRequired())
    else if (isForged(request)) next(forged())
    else next(known === undefined ? unsupported(String(asked)) : undefined)
  })
  done()
}, { name: 'headers', fastify: '5.x' })

/** Browsers take the content for what its type says, load nothing with it, show it in nobody's frame and tell nobody about it. */
const strict = {
  'x-content-type-options': 'nosniff',
  'content-security-policy': 'default-src \'none\'; frame-ancestors \'none\'',
  'x-frame-options': 'DENY',
  'referrer-policy': 'no-referrer',
  'cross-origin-resource-policy': 'same-origin'
}

/** A year in seconds, in which browsers take no plain HTTP from this host any more (RFC 6797). */
const encryptedOnly = { 'strict-transport-security': 'max-age=31536000' }

/** X-Request-ID, X-API-Version and X-API-Released; and what browsers may do with the answer. */
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
 * Whether the page of another site has a browser send what changes something (W3C Fetch Metadata): a browser that remembers Basic would
 * add the credentials. Only browsers send the header, and pages cannot change it.
 */
function isForged ({ method, headers }: FastifyRequest): boolean {
  const site = headers['sec-fetch-site']
  return (site === 'cross-site' || site === 'same-site') && !safe.has(method)
}

function forged (): DispatchError {
  return new DispatchError('forbidden',
    'The page of another site may not have a browser send this: call the service from a program, or from its own pages.')
}

/** The client's X-Request-ID if it is a plain word, else one of our own. */
export function requestId ({ headers }: Pick<IncomingMessage, 'headers'>): string {
  const given = headers['x-request-id']
  return typeof given === 'string' && /^[\w.:/+=-]{1,128}$/.test(given) ? given : randomUUID()
}

/** One sentence, of visible ASCII only: it stands in a header. */
export function deprecationWarning ({ since, sunset, instead }: Deprecation): string {
  return `Deprecated since ${since}, removed on ${sunset}: use ${instead}.`
}

function unsupported (asked: string): DispatchError {
  const known = Object.keys(versions)
  return new DispatchError('unsupported_version',
    `X-API-Version "${asked.slice(0, 20)}" does not exist${didYouMean(asked, known)}; there are ${known.join(' and ')}.`)
}
