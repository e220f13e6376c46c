import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Test } from 'tap'
import { type CallError, clientOf, type ClientOptions, isCallError } from '../index.ts'

/** What a server saw of a request. */
export type Seen = { method: string, url: string, key: string | undefined, body: string }
/** A server that answers its requests by turns; the last turn answers all that follow. */
export type Turns = { url: string, seen: Seen[], close: () => Promise<void> }
export type Turn = (response: ServerResponse) => void

export async function serve (t: Test, ...turns: readonly Turn[]): Promise<Turns> {
  const seen: Seen[] = []
  const server = createServer((request, response) => {
    let body = ''
    request.setEncoding('utf8').on('data', (chunk: string) => body += chunk).on('end', () => {
      const turn = turns[Math.min(seen.length, turns.length - 1)]
      seen.push({ method: request.method ?? '', url: request.url ?? '', key: request.headers['x-idempotency-key']?.toString(), body })
      turn?.(response)
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const close = async (): Promise<void> => {
    server.closeAllConnections()
    if (!server.listening) return
    server.close()
    await once(server, 'close')
  }
  t.teardown(close)
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, seen, close }
}

/** An answer as the service writes it. */
export function json (status: number, body: object, headers: Record<string, string> = {}): Turn {
  return (response) => {
    response.writeHead(status, {
      'content-type': 'application/json; charset=utf-8',
      'x-api-version': '1.1.0',
      'x-request-id': 'r-1',
      ...headers
    })
    response.end(JSON.stringify(body))
  }
}

export function refusal (status: number, error: string, more: object = {}, headers: Record<string, string> = {}): Turn {
  return json(status, { error, message: `It is ${error}.`, requestId: 'r-1', ...more }, headers)
}

export function html (status: number, headers: Record<string, string> = {}): Turn {
  return (response) => {
    response.writeHead(status, { 'content-type': 'text/html', ...headers }).end('<html><body>Hello</body></html>')
  }
}

type Result = Record<string, unknown>
type Methods = {
  things: {
    send: (body: object, options?: object) => Promise<Result>
    change: (id: string, body: object, options?: object) => Promise<Result>
    read: (id: string, options?: object) => Promise<Result>
    list: (options?: object) => PromiseLike<{ data: unknown[], nextCursor: string | null }> & AsyncIterable<unknown>
    upload: (body: object, options?: object) => Promise<Result>
    download: (id: string, options?: object) => Promise<Response>
    remove: (id: string, options?: object) => Promise<unknown>
    follow: (id: string, options?: object) => AsyncGenerator<{ event: string, data: unknown }>
  }
  wait: (dispatch: string, options?: object) => Promise<Result>
}

/** A client with a few operations, which writes its pauses down instead of making them. */
export function clientFor (
  baseUrl: string,
  options: Partial<ClientOptions> = {},
  then: (signal?: AbortSignal) => Promise<void> = () => Promise.resolve()
): Methods & { pauses: number[] } {
  const pauses: number[] = []
  const client = clientOf({ baseUrl, key: 'dk_test_1', ...options }, {
    apiVersion: '1.1.0',
    operations: {
      things: {
        send: '/api/things POST body key',
        change: '/api/things/{id}/change POST body',
        read: '/api/things/{id} GET',
        list: '/api/things GET pages',
        upload: '/api/upload POST form key',
        download: '/api/things/{id}/file GET raw',
        remove: '/api/things/{id} DELETE nothing',
        follow: '/api/things/{id}/changes GET events'
      }
    },
    pause: (seconds, signal) => {
      pauses.push(seconds)
      return then(signal)
    }
  })
  return { ...client as Methods, pauses }
}

/** The error that a call ends with. */
export async function errorOfCall (call: PromiseLike<unknown>): Promise<CallError> {
  try {
    await call
  } catch (error) {
    if (isCallError(error)) return error
    throw error
  }
  throw new Error('The call has succeeded.')
}

/** An answer that ends before its body does. */
export const cut: Turn = (response) => {
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': '100', 'x-api-version': '1.1.0' })
  response.write('{"success":tr')
  response.socket?.end()
}
