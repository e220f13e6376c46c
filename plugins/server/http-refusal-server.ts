import type { ErrorBody } from '@dispatch/core'
import { createServer, type Server } from 'node:http'
import { requestId } from '../hooks/headers.ts'
import { httpsRequired } from '../hooks/https.ts'
import { boundConnections } from './connection-limits.ts'
import type { TransportLimits } from './transport-limits.ts'
import { answerUnreadable } from './transport.ts'

/**
 * What stands where people look for the service over plain HTTP: it refuses every request, and redirects nobody, because who
 * follows has sent the credentials in the clear already. One answer a connection; bodies are not read.
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
    // A client that is still sending would otherwise see its connection reset before it has read the answer.
    request.resume()
  })
  server.on('clientError', answerUnreadable)
  server.on('connect', (_request, socket) => {
    socket.destroy()
  })
  boundConnections(server, limits, () => false)
  return server
}
