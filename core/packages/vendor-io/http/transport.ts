import { memoizeByIdentity } from '@dispatch/common'
import type { Readable } from 'node:stream'
import { createSecureContext } from 'node:tls'
import { Agent, buildConnector, DecoratorHandler, type Dispatcher, request } from 'undici'
import { type LeaseCheck, requireLease } from '../outcome/lease-check.ts'
import { codeOf, RequestFailure, troubleOf, unconnected } from '../outcome/request-outcome.ts'
import type { Guard } from './guard.ts'

/** The real destination of a host name: it replaces the internet in tests. */
export type Route = (hostname: string, port: number) => { host: string, port: number } | undefined

/** `ca`: certificate authorities (PEM) instead of the system's. */
export type HttpTransportOptions = { guard: Guard, ca?: readonly string[], route?: Route }

/**
 * One request as it is sent. `answerWithin` is in milliseconds. For a body that is a stream, the headers tell the length. `holds` is asked
 * just before the first byte.
 */
export type TransportRequest = {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  url: URL
  headers: Record<string, string>
  body?: Buffer | Readable
  signal: AbortSignal
  answerWithin: number
  holds?: LeaseCheck
}

/** The answer, with any status. Its body must be read or dumped. */
export type TransportReply = Pick<Dispatcher.ResponseData, 'headers' | 'body'> & { status: number }

/** All connections to HTTP servers: with verified TLS, to addresses that the guard permits. */
export type HttpTransport = {
  /** Throws a {@link RequestFailure}. */
  send: (request: TransportRequest) => Promise<TransportReply>
  close: () => Promise<void>
}

/** The time limit in milliseconds for name resolution, connection and TLS together. */
const connectWithin = 10_000
/** The longest pause in milliseconds between two pieces of an answer's body. */
const nextPieceWithin = 30_000
const longestHeaders = 32 * 1024
const connectionsPerHost = 128

/** The request was not sent completely: it was malformed, or its body could not be read. */
const neverWhole = new Set(['UND_ERR_INVALID_ARG', 'UND_ERR_REQ_CONTENT_LENGTH_MISMATCH'])

/** To read the authorities takes as long as a handshake, so no connection reads them again. */
const contextOf = memoizeByIdentity((ca: readonly string[]) => createSecureContext({ ca: [...ca] }))

/**
 * Sends requests to vendors and receivers, to addresses that the guard permits. Sending throws a `RequestFailure` where there is no answer.
 */
export function createHttpTransport ({ guard, ca, route = () => undefined }: HttpTransportOptions): HttpTransport {
  const secureContext = ca === undefined ? createSecureContext() : contextOf(ca)
  const open = buildConnector({ allowH2: false, timeout: connectWithin, lookup: guard.lookup, secureContext })
  const connect: buildConnector.connector = (options, callback) => {
    const { hostname, port } = options
    const to = route(hostname, Number(port === '' ? 443 : port))
    const fail = (error: unknown): void => callback(unconnected(hostname, error), null)
    try {
      guard.check(to?.host ?? hostname)
      open({
        ...options,
        ...(to !== undefined && { hostname: to.host, port: String(to.port), servername: options.servername ?? hostname })
      }, (...[error, socket]) => {
        if (error === null) callback(null, socket)
        else fail(error)
      })
    } catch (error) {
      fail(error)
    }
  }
  const agent = new Agent({
    connect,
    allowH2: false,
    connections: connectionsPerHost,
    maxHeaderSize: longestHeaders,
    bodyTimeout: nextPieceWithin
  })
  return {
    async send ({ method, url, headers, body = null, signal, answerWithin, holds }) {
      try {
        const { statusCode: status, headers: answered, body: content } = await request(url, {
          method,
          headers,
          body,
          signal,
          headersTimeout: answerWithin,
          dispatcher: holds === undefined ? agent : whileHeld(agent, holds)
        })
        return { status, headers: answered, body: content }
      } catch (error) {
        throw failed(url.host, error)
      }
    },
    close: () => agent.destroy()
  }
}

/** A request may wait for a connection or for its handshake. The lease is checked just before the request is written. */
function whileHeld (agent: Agent, holds: LeaseCheck): Dispatcher {
  return agent.compose((dispatch) => (options, handler) => dispatch(options, new HeldRequest(handler, holds)))
}

class HeldRequest extends DecoratorHandler implements Dispatcher.DispatchHandler {
  readonly #handler: Dispatcher.DispatchHandler
  readonly #holds: LeaseCheck

  constructor (handler: Dispatcher.DispatchHandler, holds: LeaseCheck) {
    super(handler)
    this.#handler = handler
    this.#holds = holds
  }

  /**
   * Called when a connection is ready, in the same turn of the event loop in which the first byte is written. An error that it throws ends
   * the request.
   */
  onRequestStart (controller: Dispatcher.DispatchController, context: unknown): void {
    requireLease(this.#holds)
    this.#handler.onRequestStart?.(controller, context)
  }
}

/** The error by its place: before there was a connection, while the request was built, or after that. */
function failed (host: string, error: unknown): RequestFailure {
  if (error instanceof RequestFailure) return error
  const cause = error instanceof Error ? error : new Error(String(error))
  if (neverWhole.has(codeOf(cause))) {
    return new RequestFailure('not done', `The request to "${host}" could not be built: ${cause.message}.`, { cause, ours: true })
  }
  return new RequestFailure('uncertain', `"${host}" ${troubleOf(cause)}.`, { cause })
}
