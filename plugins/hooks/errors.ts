import { didYouMean } from '@dispatch/common'
import { chainFault, DispatchError, type ErrorBody, errorRow, errorTable, type ErrorWord, isSince, wordIn } from '@dispatch/contract'
import { DatabaseUnavailable } from '@dispatch/database'
import { TemplateWorkersBusy } from '@dispatch/documents'
import { isServiceName, serviceNames } from '@dispatch/services'
import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify'
import plugin from 'fastify-plugin'
import { acceptedEncodings } from './content-encoding.ts'
import { identify } from './headers.ts'
import { type ClassifyConnection, httpsRequired } from './https.ts'
import { rateLimitHeaders } from './rate-limits.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The route validates: its error bodies have `result: "error"`, as its successes have "success" or "warning". */
    validates?: boolean
  }
  interface FastifyRequest {
    /** The word of the error that was answered. */
    errorWord: ErrorWord | null
  }
  interface FastifyInstance {
    /** The address before the word of an error, at which a page explains it; undefined where there are no such pages. */
    errorPages: string | undefined
  }
}

/**
 * Turns every thrown error into an error body of the error table. An error that is not in the table is an `internal_error`: it is logged,
 * and the client does not see it.
 */
export const errorsPlugin = plugin<{ errorPages: string | undefined }>((app, { errorPages }, done) => {
  app.decorate('errorPages', errorPages)
  app.decorateRequest('errorWord', null)
  app.setErrorHandler<FastifyError>((error, request, reply) => {
    const known = knownError(error) ?? frameworkError(error, request)
    if (known.word === 'internal_error' || known.word === 'document_damaged') request.log.error({ err: error }, 'request failed')
    // The client is told that it may try again; why it has to stands here.
    else if (known.word === 'service_unavailable') request.log.warn({ err: known }, 'the service could not do what it was asked')
    // A reply that is handed back is waited for by listeners of its response, more than it may have where a stream has failed.
    void send(known, request, reply)
  })
  app.setNotFoundHandler((request, reply) => send(routeNotFound(request), request, reply))
  // The router takes what follows the last slash for an id, though nothing follows it.
  app.addHook('preValidation', (request, _reply, next) => {
    const { url = '' } = request.routeOptions
    if (/:\w+$/.test(url) && /\/(\?|$)/.test(request.url)) next(routeNotFound(request))
    else next()
  })
  done()
}, { name: 'errors', fastify: '5.x' })

/** The core's errors that are reported to a client. */
function knownError (error: Error): DispatchError | undefined {
  if (error instanceof DispatchError) return error
  if (error instanceof TemplateWorkersBusy) return new DispatchError('provider_unavailable', error.message, { cause: error })
  return error instanceof DatabaseUnavailable ? unavailable(error) : undefined
}

/** Answers a request for which the framework finds no route. It uses the path only, because no hook has run. */
export function answerUnroutable (wayOf: ClassifyConnection): (error: FastifyError, request: FastifyRequest, reply: FastifyReply) => void {
  return (error, request, reply) => {
    const way = wayOf(request.raw)
    identify(request, reply, way)
    if (way === 'plain' || way === 'probe') void send(httpsRequired(), request, reply)
    else if (isEvent(request)) void reply.code(200).header('cache-control', 'no-store').type('application/json; charset=utf-8').send({})
    else void send(frameworkError(error, request), request, reply)
  }
}

/**
 * Whether the request posts an event, even if the names in its path are too long or cannot be decoded: the answer must reveal nothing (see
 * webhooks.ts).
 */
function isEvent ({ method, raw: { url = '' } }: FastifyRequest): boolean {
  return method === 'POST' && /^\/api\/webhooks\/[^/?]*\/providers\/[^/?]*\/endpoint\.json(?:\?|$)/.test(url)
}

function send (error: DispatchError, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const word = wordIn(error.word, request.apiVersion)
  request.errorWord = word
  const { errorPages } = request.server
  const body: ErrorBody = {
    error: word,
    message: error.message,
    requestId: request.id,
    ...(error.reason === undefined || !isSince('1.1.0', request.apiVersion) ? {} : { reason: error.reason }),
    ...(error.details === undefined ? {} : { details: [...error.details] }),
    ...(error.dispatchId === undefined ? {} : { dispatchId: error.dispatchId }),
    ...error.more,
    ...(errorPages === undefined || !isSince('1.1.0', request.apiVersion) ? {} : { docs: `${errorPages}/${word}` }),
    ...(request.routeOptions.config.validates === true ? { result: 'error' as const } : {})
  }
  if (error.word === 'unsupported_media_type' && !reply.hasHeader('accept-encoding')) reply.header('accept-encoding', acceptedEncodings)
  if (error.budget !== undefined) reply.headers(rateLimitHeaders(error.budget))
  const retryAfter = error.retryAfter ?? errorRow(error.word).retryAfter
  if (retryAfter !== undefined) reply.header('retry-after', retryAfter)
  return reply.code(error.status).header('cache-control', 'no-store').type('application/json; charset=utf-8').send(body)
}

/** The cause goes into the log only: all that a client can do is to try again. */
function unavailable (error: DatabaseUnavailable): DispatchError {
  const message = error.uncertain
    ? 'The service lost its database during the request: check the result before you send it again.'
    : 'The service cannot use its database now; nothing was changed. Try again in a moment.'
  return new DispatchError('service_unavailable', message, { cause: error })
}

/** The framework's errors that a client can cause, by code. */
const frameworkErrors: Record<string, { word: ErrorWord, message: string | ((request: FastifyRequest) => string) }> = {
  FST_ERR_CTP_BODY_TOO_LARGE: {
    word: 'payload_too_large',
    message: ({ routeOptions }) => `The body is larger than the limit of ${sizeOf(routeOptions.bodyLimit)}.`
  },
  FST_ERR_CTP_INVALID_MEDIA_TYPE: { word: 'unsupported_media_type', message: typesTaken },
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: { word: 'validation_error', message: 'The length of the body differs from its Content-Length.' },
  FST_ERR_ROUTE_MISSING_CONTENT_TYPE: { word: 'unsupported_media_type', message: typesTaken },
  FST_ERR_BAD_URL: { word: 'not_found', message: 'The path of the URL cannot be decoded.' },
  FST_ERR_MAX_PARAM_LENGTH: { word: 'not_found', message: 'The name in the path is too long to exist.' }
}

function typesTaken ({ routeOptions: { schema } }: FastifyRequest): string {
  const { consumes: types = [] } = schema ?? {}
  return types.length === 0
    ? 'The body must be JSON: send "Content-Type: application/json".'
    : `The body must be ${types.join(' or ')}: send "Content-Type" with what it is.`
}

function frameworkError (error: FastifyError, request: FastifyRequest): DispatchError {
  const { word, message } = frameworkErrors[error.code] ?? byStatus(error.statusCode ?? 500)
  return new DispatchError(word, typeof message === 'string' ? message : message(request), { cause: error })
}

const kibibyte = 1024

function sizeOf (bytes: number): string {
  return bytes < kibibyte * kibibyte ? `${bytes / kibibyte} KiB` : `${bytes / kibibyte / kibibyte} MiB`
}

/** Any other error of the framework and its plugins, by its status. A 4xx is the client's fault, or the client has disconnected. */
function byStatus (status: number): { word: ErrorWord, message: string } {
  if (status < 400 || status >= 500) return { word: 'internal_error', message: errorTable.internal_error.when }
  if (status === 403 || status === 404) return { word: 'not_found', message: 'There is nothing to read under this path.' }
  return { word: 'validation_error', message: 'The request cannot be read.' }
}

/** The error for a path without a route. It names the unknown part of the path. */
export function routeNotFound ({ method, url }: FastifyRequest): DispatchError {
  const path = url.split('?', 1)[0] ?? ''
  if (path.length > 1 && path.endsWith('/')) {
    const meant = path.slice(0, 200).replace(/\/+$/, '')
    return new DispatchError('not_found', `There is no ${method} ${path.slice(0, 200)}: paths end without a slash, as ${meant}.`)
  }
  const [, api, first = '', ...rest] = path.split('/')
  if (method !== 'POST' || api !== 'api' || first === 'v1' || first === 'webhooks') return nothingThere(method, path)
  const services = [first, ...rest].filter((name) => name !== 'validate')
  const unknown = services.find((name) => !isServiceName(name))
  if (unknown !== undefined) {
    return new DispatchError('unknown_service',
      `There is no service "${unknown}"${didYouMean(unknown, serviceNames)}; there are: ${serviceNames.join(', ')}.`)
  }
  const fault = chainFault(services.filter(isServiceName))
  return fault === undefined ? nothingThere(method, path) : new DispatchError('unknown_chain', fault)
}

function nothingThere (method: string, path: string): DispatchError {
  const [, api, version, service = '', ...rest] = path.split('/')
  if (api === 'api' && version === 'v1' && isServiceName(service)) {
    const meant = ['/api', service, ...rest.filter((name) => name === 'validate' || isServiceName(name))].join('/')
    return new DispatchError('not_found', `There is no ${method} ${path.slice(0, 200)}: dispatching is POST ${meant}, without "v1".`)
  }
  return new DispatchError('not_found', `There is no ${method} ${path.slice(0, 200)}: see /docs.`)
}
