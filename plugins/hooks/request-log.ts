import type { Actor, AnsweredRequest, RequestLog } from '@dispatch/accounts'
import { isRecord } from '@dispatch/common'
import type { FastifyReply, FastifyRequest } from 'fastify'
import plugin from 'fastify-plugin'
import { knownActor } from './authentication.ts'
import { isOwn } from './own-request.ts'

/** The longest path that is kept, in characters. */
const longest = 300

/**
 * Notes every answered request of a company. Never what is secret: bodies, queries and headers are left out, and so is a path with a token.
 * What the console reads for its pages is no request of the company, nor what it has checked or shown while somebody types.
 */
export const requestLogPlugin = plugin<{ requestLog: RequestLog, now: () => Date }>((app, { requestLog, now }, done) => {
  app.addHook('onResponse', (request, reply, next) => {
    const actor = knownActor(request)
    if (actor !== null && !isOfPage(request)) requestLog.add(answered(actor, request, reply, now()))
    next()
  })
  done()
}, { name: 'request-log', fastify: '5.x' })

function isOfPage ({ method, raw, routeOptions: { url = '' } }: FastifyRequest): boolean {
  return (method === 'GET' || /\/(?:validate|preview)$/.test(url)) && isOwn(raw)
}

function answered (
  { userId, companyId, impersonatorId, key }: Actor,
  request: FastifyRequest,
  { statusCode: status, elapsedTime: milliseconds }: FastifyReply,
  at: Date
): AnsweredRequest {
  const { id: requestId, method, ip: address, url, routeOptions: { url: route = 'none' }, errorWord: error } = request
  const test = key?.mode === 'test' || [request.query, request.body].some(saysSandbox)
  const path = route.includes(':token') ? route : (url.split('?', 1)[0] ?? '').slice(0, longest)
  return {
    companyId,
    userId,
    impersonatorId,
    keyId: key?.id,
    requestId,
    method,
    route,
    path,
    status,
    error,
    milliseconds,
    address,
    test,
    at
  }
}

const saysSandbox = (given: unknown): boolean => isRecord(given) && [true, 'true'].includes(given['sandbox'] as string)
