import { type ErrorBody, refusal } from '@dispatch/core'
import type { FastifyReply } from 'fastify'
import plugin from 'fastify-plugin'
import { randomUUID } from 'node:crypto'
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { type TransportLimits, transportLimits } from './transport-limits.ts'

/** The answers that a connection still waits for, in the order of their requests. */
const awaited = new WeakMap<Duplex, Set<ServerResponse>>()

type Limits = Pick<TransportLimits, 'answer' | 'minBytesPerSecond' | 'pipelined' | 'pipelinedAtOnce'>

/**
 * What Node's HTTP server would answer by itself, before any route: here it gets the service's own words. And what it would
 * allow without end: requests of one connection beyond a number wait to be read, and an answer that is not taken is cut off. What
 * comes behind another request of its connection is begun a few at a time, between looks at all other connections: one piece of the
 * network holds two thousand small requests, whose answers may be ready at once.
 */
export const transportPlugin = plugin<{ limits?: Limits }>((app, { limits = transportLimits }, done) => {
  const begin = takeOver(app.server)
  const behind = createPaced(limits.pipelinedAtOnce)
  app.server.on('request', (request, response) => {
    const { socket } = request
    const answers = awaited.get(socket) ?? follow(socket, limits)
    answers.add(response)
    if (answers.size > limits.pipelined) socket.pause()
    response.once('close', () => {
      answers.delete(response)
      if (answers.size === limits.pipelined) socket.resume()
    })
    if (answers.size === 1) begin(request, response)
    else {behind(() => {
        if (!socket.destroyed) begin(request, response)
      })}
  })
  app.addHook('onSend', ({ socket }, reply, payload, next) => {
    cutWhenSlow(socket, reply, payload, limits)
    next(null, payload)
  })
  // An expectation that is not known may be ignored (RFC 9110, 10.1.1).
  app.server.on('checkExpectation', (request, response) => {
    app.server.emit('request', request, response)
  })
  app.addHook('onRequest', ({ raw }, _reply, next) => {
    const hosts = hostsIn(raw.rawHeaders)
    next(hosts > 1 || (hosts === 0 && raw.httpVersion === '1.1') ? withoutOneHost(hosts) : undefined)
  })
  done()
}, { name: 'transport', fastify: '5.x' })

/** Answers what the server did with a request until now; it does it no more by itself. */
function takeOver (server: Server): (request: IncomingMessage, response: ServerResponse) => void {
  const listeners = server.listeners('request')
  server.removeAllListeners('request')
  return (request, response) => {
    for (const listener of listeners) listener.call(server, request, response)
  }
}

/** Runs work in its order, so much of it in a turn of the event loop. */
function createPaced (atOnce: number): (work: () => void) => void {
  const waiting: (() => void)[] = []
  let isDue = false
  const run = (): void => {
    for (const work of waiting.splice(0, atOnce)) work()
    isDue = waiting.length > 0
    if (isDue) setImmediate(run)
  }
  return (work) => {
    waiting.push(work)
    if (!isDue) setImmediate(run)
    isDue = true
  }
}

/** Begins to note what a connection waits for. Whoever reads a body sets the connection going again. */
function follow (socket: Socket, { pipelined }: Limits): Set<ServerResponse> {
  const answers = new Set<ServerResponse>()
  awaited.set(socket, answers)
  socket.on('resume', () => {
    if (answers.size > pipelined) socket.pause()
  })
  return answers
}

/** Its time counts from where it is its turn: it may wait for the answers of requests before it. */
function cutWhenSlow (socket: Socket, reply: FastifyReply, payload: unknown, { answer, minBytesPerSecond: slowest }: Limits): void {
  const { raw } = reply
  const bytes = typeof payload === 'string' ? payload.length : Number(reply.getHeader('content-length') ?? 0)
  const patience = answer + Math.floor(bytes / slowest) * 1000
  let timer = setTimeout(look, patience).unref()
  raw.once('close', () => {
    clearTimeout(timer)
  })

  function look (): void {
    const [first, ...later] = awaited.get(socket) ?? []
    if (first === raw) socket.destroy()
    else if (later.includes(raw)) timer = setTimeout(look, patience).unref()
  }
}

/** How often Host is among names and values in turns. */
function hostsIn (rawHeaders: readonly string[]): number {
  let hosts = 0
  for (let index = 0; index < rawHeaders.length; index += 2) if (rawHeaders[index]?.toLowerCase() === 'host') hosts++
  return hosts
}

/** A proxy and a server may each take another one of two (RFC 9112, 3.2). */
function withoutOneHost (hosts: number): Error {
  const problem = hosts === 0
    ? { code: 'required', message: 'A request over HTTP/1.1 needs the Host header.' }
    : { code: 'too_many', message: 'The Host header is sent once.' }
  return refusal('validation_error', [{ path: '/headers/Host', ...problem }])
}

/**
 * Answers what is not HTTP, or too slow or too large to be read, and ends the connection. A request that was read whole
 * before is answered first: the error is not its own.
 */
export function answerUnreadable (error: { code?: string }, socket: Duplex): void {
  const last = [...awaited.get(socket) ?? []].findLast(({ req }) => req.complete)
  if (last !== undefined) last.once('close', () => socket.destroy())
  else if (socket.writable && isOfHttp(error)) socket.end(unreadable(error))
  else socket.destroy()
}

/** Not of the connection below: where a handshake has failed nothing can be answered. */
function isOfHttp ({ code = '' }: { code?: string }): boolean {
  return code.startsWith('HPE_') || code in statuses
}

function unreadable ({ code }: { code?: string }): string {
  const status = statuses[code ?? ''] ?? '400 Bad Request'
  const requestId = randomUUID()
  const body: ErrorBody = { error: 'validation_error', message: `The request cannot be read as HTTP (${status.slice(4)}).`, requestId }
  const text = JSON.stringify(body)
  const head = [
    `HTTP/1.1 ${status}`,
    'Content-Type: application/json; charset=utf-8',
    `Content-Length: ${Buffer.byteLength(text)}`,
    `X-Request-ID: ${requestId}`,
    'Cache-Control: no-store',
    'X-Content-Type-Options: nosniff',
    'Connection: close'
  ]
  return `${head.join('\r\n')}\r\n\r\n${text}`
}

/** Node's codes of what it could not read. */
const statuses: Record<string, string> = {
  HPE_HEADER_OVERFLOW: '431 Request Header Fields Too Large',
  ERR_HTTP_REQUEST_TIMEOUT: '408 Request Timeout'
}
