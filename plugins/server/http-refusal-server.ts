import type { ErrorBody } from '@dispatch/contract'
import { createServer, type Server } from 'node:http'
import { requestId } from '../hooks/headers.ts'
import { httpsRequired } from '../hooks/https.ts'
import { boundConnections } from './connection-limits.ts'
import type { TransportLimits } from './transport-limits.ts'
import { answerUnreadable } from './transport.ts'

/**
 * A server for the port where people look for the service over plain HTTP. It refuses every request. It does not redirect, because a client
 * that follows a redirect has already sent its credentials in the clear. One answer per connection; bodies are not read.
 */
export function createHttpRefusalServer (limits: TransportLimits): Server {
  const { status, word, message } = httpsRequired()
  const server = createServer({
    headersTimeout: limits.head,
    requestTimeout: limits.head,
    connectionsCheckingInterval: limits.checkInterval,
    requireHostHeader: false
  }, (request, response) => {
    const body: ErrorBody = { error: word, message, requestId: requestId(request) }
    const text = JSON.stringify(body)
    response.writeHead(status, {
      'content-type': 'application/json; charset=utf-8',
      'content-length': Buffer.byteLength(text),
      'x-request-id': body.requestId,
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
      connection: 'close'
    })
    response.end(request.method === 'HEAD' ? undefined : text)
    // Reads and drops the body: otherwise a client that is still sending would get a connection reset before it reads the answer.
    request.resume()
  })
  server.on('clientError', answerUnreadable)
  server.on('connect', (_request, socket) => {
    socket.destroy()
  })
  boundConnections(server, limits, () => false)
  return server
}
