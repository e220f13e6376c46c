import { type ErrorBody, refusal } from '@dispatch/contract'
import type { FastifyReply } from 'fastify'
import plugin from 'fastify-plugin'
import { randomUUID } from 'node:crypto'
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { type TransportLimits, transportLimits } from './transport-limits.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The answer goes on for as long as its route says. */
    lasting?: true
  }
}

/** The pending answers of each connection, in the order of their requests. */
const awaited = new WeakMap<Duplex, Set<ServerResponse>>()

type Limits = Pick<TransportLimits, 'answer' | 'minBytesPerSecond' | 'pipelined' | 'pipelinedAtOnce'>

/**
 * Replaces what Node's HTTP server does before any route. Errors of HTTP get the service's error bodies. The number of unanswered requests
 * on a connection is limited: more are not read until some are answered. A client that does not receive its answer is disconnected.
 * Pipelined requests are started a few at a time, so that other connections get their turn in between: one network packet can hold two
 * thousand small requests, and their answers may all be ready at once.
 */
export const transportPlugin = plugin<{ limits?: Limits }>((app, { limits = transportLimits }, done) => {
  const begin = takeOver(app.server)
  const beginLater = createPaced(limits.pipelinedAtOnce)
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
    else {beginLater(() => {
        if (!socket.destroyed) begin(request, response)
      })}
  })
  app.addHook('onSend', ({ socket, routeOptions: { config } }, reply, payload, next) => {
    if (config.lasting !== true) cutWhenSlow(socket, reply, payload, limits)
    next(null, payload)
  })
  // An unknown expectation may be ignored (RFC 9110, 10.1.1).
  app.server.on('checkExpectation', (request, response) => {
    app.server.emit('request', request, response)
  })
  app.addHook('onRequest', ({ raw }, _reply, next) => {
    const hosts = hostsIn(raw.rawHeaders)
    next(hosts > 1 || (hosts === 0 && raw.httpVersion === '1.1') ? withoutOneHost(hosts) : undefined)
  })
  done()
}, { name: 'transport', fastify: '5.x' })

/** Removes the server's own request listeners, and returns a function that calls them. */
function takeOver (server: Server): (request: IncomingMessage, response: ServerResponse) => void {
  const listeners = server.listeners('request')
  server.removeAllListeners('request')
  return (request, response) => {
    for (const listener of listeners) listener.call(server, request, response)
  }
}

/** Creates a queue that runs its work in order, `atOnce` items in each turn of the event loop. */
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

/** Starts to track the pending answers of a connection. Reading a body resumes the socket, so it is paused again if needed. */
function follow (socket: Socket, { pipelined }: Limits): Set<ServerResponse> {
  const answers = new Set<ServerResponse>()
  awaited.set(socket, answers)
  socket.on('resume', () => {
    if (answers.size > pipelined) socket.pause()
  })
  return answers
}

/**
 * Closes the connection when the client takes too long to receive the answer. The time starts when the answer is the first of its
 * connection: before that it waits for the answers of earlier requests.
 */
function cutWhenSlow (socket: Socket, reply: FastifyReply, payload: unknown, { answer, minBytesPerSecond: slowest }: Limits): void {
  const { raw } = reply
  const bytes = typeof payload === 'string' ? payload.length : Number(reply.getHeader('content-length') ?? 0)
  const timeout = answer + Math.floor(bytes / slowest) * 1000
  let timer = setTimeout(check, timeout).unref()
  raw.once('close', () => {
    clearTimeout(timer)
  })

  function check (): void {
    const [first, ...later] = awaited.get(socket) ?? []
    if (first === raw) socket.destroy()
    else if (later.includes(raw)) timer = setTimeout(check, timeout).unref()
  }
}

/** How many Host headers there are in a list of alternating names and values. */
function hostsIn (rawHeaders: readonly string[]): number {
  let hosts = 0
  for (let index = 0; index < rawHeaders.length; index += 2) if (rawHeaders[index]?.toLowerCase() === 'host') hosts++
  return hosts
}

/** Two Host headers are refused, because a proxy and a server may each use a different one (RFC 9112, 3.2). */
function withoutOneHost (hosts: number): Error {
  const problem = hosts === 0
    ? { code: 'required', message: 'A request over HTTP/1.1 needs the Host header.' }
    : { code: 'too_many', message: 'The Host header is sent once.' }
  return refusal('validation_error', [{ path: '/headers/Host', ...problem }])
}

/**
 * Answers what is not HTTP, or is too slow or too large to read, and closes the connection. An earlier request that was read completely is
 * answered first, because the error does not concern it.
 */
export function answerUnreadable (error: { code?: string }, socket: Duplex): void {
  const last = [...awaited.get(socket) ?? []].findLast(({ req }) => req.complete)
  if (last !== undefined) last.once('close', () => socket.destroy())
  else if (socket.writable && isOfHttp(error)) socket.end(unreadable(error))
  else socket.destroy()
}

/** Whether the error is one of HTTP. After an error of the connection, such as a failed handshake, nothing can be answered. */
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

/** Status lines for Node's error codes; any other code is a 400. */
const statuses: Record<string, string> = {
  HPE_HEADER_OVERFLOW: '431 Request Header Fields Too Large',
  ERR_HTTP_REQUEST_TIMEOUT: '408 Request Timeout'
}
