import { randomUUID } from 'node:crypto'
import type { ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'
import { refusal, type ErrorBody } from '@dispatch/core'
import plugin from 'fastify-plugin'

/** The answers that a connection still waits for, in the order of their requests. */
const awaited = new WeakMap<Duplex, Set<ServerResponse>>()

/** What Node's HTTP server would answer by itself, before any route: here it gets the service's own words. */
export const transportPlugin = plugin((app, _options, done) => {
  app.server.on('request', (request, response) => {
    const answers = awaited.get(request.socket) ?? new Set()
    awaited.set(request.socket, answers.add(response))
    response.once('close', () => answers.delete(response))
  })
  // An expectation that is not known may be ignored (RFC 9110, 10.1.1).
  app.server.on('checkExpectation', (request, response) => { app.server.emit('request', request, response) })
  app.addHook('onRequest', ({ headers, raw }, _reply, next) => {
    next(headers.host === undefined && raw.httpVersion === '1.1' ? hostless() : undefined)
  })
  done()
}, { name: 'transport', fastify: '5.x' })

function hostless (): Error {
  return refusal('validation_error', [{ path: '/headers/Host', code: 'required', message: 'A request over HTTP/1.1 needs the Host header.' }])
}

/**
 * Answers what is not HTTP, or too slow or too large to be read, and ends the connection. A request that was read whole
 * before is answered first: the error is not its own.
 */
export function answerUnreadable (error: { code?: string }, socket: Duplex): void {
  const last = [...awaited.get(socket) ?? []].findLast(({ req }) => req.complete)
  if (last !== undefined) last.once('close', () => socket.destroy())
  else if (socket.writable && error.code !== 'ECONNRESET') socket.end(unreadable(error))
}

function unreadable ({ code }: { code?: string }): string {
  const status = statuses[code ?? ''] ?? '400 Bad Request'
  const requestId = randomUUID()
  const body: ErrorBody = { error: 'validation_error', message: `The request cannot be read as HTTP (${status.slice(4)}).`, requestId }
  const text = JSON.stringify(body)
  const head = [
    `HTTP/1.1 ${status}`, 'Content-Type: application/json; charset=utf-8', `Content-Length: ${Buffer.byteLength(text)}`,
    `X-Request-ID: ${requestId}`, 'Cache-Control: no-store', 'X-Content-Type-Options: nosniff', 'Connection: close'
  ]
  return `${head.join('\r\n')}\r\n\r\n${text}`
}

/** Node's codes of what it could not read. */
const statuses: Record<string, string> = {
  HPE_HEADER_OVERFLOW: '431 Request Header Fields Too Large',
  ERR_HTTP_REQUEST_TIMEOUT: '408 Request Timeout'
}
