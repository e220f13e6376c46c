import { randomUUID } from 'node:crypto'
import { DispatchError, errorTable, isServiceName, serviceNames, didYouMean, type ErrorBody, type ErrorWord } from '@dispatch/core'
import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify'
import plugin from 'fastify-plugin'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Its errors say `result: "error"`, beside "success" and "warning". */
    validates?: boolean
  }
}

/** Turns everything thrown into a body of the error table. What is not in it is an `internal_error`: logged, never shown. */
export const errorsPlugin = plugin((app, _options, done) => {
  app.setErrorHandler<FastifyError | DispatchError>((error, request, reply) => {
    const known = error instanceof DispatchError ? error : frameworkError(error)
    if (known.status >= 500) request.log.error({ err: error, ...(known.dispatchId === undefined ? {} : { dispatchId: known.dispatchId }) }, 'request failed')
    return send(known, request, reply)
  })
  app.setNotFoundHandler((request, reply) => send(notFound(request), request, reply))
  done()
}, { name: 'errors', fastify: '5.x' })

function send (error: DispatchError, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const body: ErrorBody = {
    error: error.word,
    message: error.message,
    requestId: request.id,
    ...(error.details === undefined ? {} : { details: [...error.details] }),
    ...(error.dispatchId === undefined ? {} : { dispatchId: error.dispatchId }),
    ...(request.routeOptions.config.validates === true ? { result: 'error' as const } : {})
  }
  return reply.code(error.status).header('cache-control', 'no-store').type('application/json; charset=utf-8').send(body)
}

/** The framework's own errors that a client can cause, by their code. */
const frameworkErrors: Record<string, { word: ErrorWord, message: string }> = {
  FST_ERR_CTP_BODY_TOO_LARGE: { word: 'payload_too_large', message: 'The body is larger than the limit of 5 MiB.' },
  FST_ERR_CTP_INVALID_MEDIA_TYPE: { word: 'unsupported_media_type', message: 'The body must be JSON: send "Content-Type: application/json".' },
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: { word: 'validation_error', message: 'The body is not as long as its Content-Length says.' },
  FST_ERR_BAD_URL: { word: 'not_found', message: 'The path of the URL cannot be decoded.' }
}

function frameworkError (error: FastifyError): DispatchError {
  const known = frameworkErrors[error.code]
  if (known !== undefined) return new DispatchError(known.word, known.message, { cause: error })
  return new DispatchError('internal_error', errorTable.internal_error.when, { cause: error })
}

/** Says which part of the path is unknown. */
function notFound ({ method, url }: FastifyRequest): DispatchError {
  const path = url.split('?', 1)[0] ?? ''
  const [, api, first = '', ...rest] = path.split('/')
  if (method !== 'POST' || api !== 'api' || first === 'v1' || first === 'webhooks') return new DispatchError('not_found', `There is no ${method} ${path}: see /docs.`)
  const services = [first, ...rest].filter((name) => name !== 'validate')
  const unknown = services.find((name) => !isServiceName(name))
  if (unknown !== undefined) return new DispatchError('unknown_service', `There is no service "${unknown}"${didYouMean(unknown, serviceNames)}; there are: ${serviceNames.join(', ')}.`)
  return new DispatchError('unknown_chain', `The services ${services.join(', ')} cannot be chained: nothing may follow "${first}".`)
}

/** The whole answer to something that is not HTTP, or too slow or too large to be read. */
export function unreadableRequest ({ code }: { code?: string }): string {
  const status = unreadableStatus[code ?? ''] ?? '400 Bad Request'
  const body: ErrorBody = { error: 'validation_error', message: `The request cannot be read as HTTP (${status.slice(4)}).`, requestId: randomUUID() }
  const text = JSON.stringify(body)
  return `HTTP/1.1 ${status}\r\nContent-Type: application/json; charset=utf-8\r\nContent-Length: ${Buffer.byteLength(text)}\r\nConnection: close\r\n\r\n${text}`
}

/** Node's codes of what it could not read. */
const unreadableStatus: Record<string, string> = {
  HPE_HEADER_OVERFLOW: '431 Request Header Fields Too Large',
  ERR_HTTP_REQUEST_TIMEOUT: '408 Request Timeout'
}
