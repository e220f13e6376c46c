import plugin from 'fastify-plugin'
import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

/**
 * A server that closes finishes the requests under way, each as the last of its connection, then cuts what is left. By itself it
 * would wait for connections that are kept alive, and without end for half a request. `patience`: milliseconds that the rest of
 * a body may take to come; nothing has been done for such a request yet.
 */
export const drainingPlugin = plugin<{ patience?: number }>((app, { patience = 5_000 }, done) => {
  const underWay = new Set<ServerResponse>()
  /** Also those that have not finished their handshake of TLS, of which the HTTP server does not know yet. */
  const connections = new Set<Socket>()
  let closing = false

  app.server.on('connection', (socket: Socket) => {
    connections.add(socket)
    socket.once('close', () => connections.delete(socket))
    if (closing) socket.destroy()
  })

  function endSoon (response: ServerResponse): void {
    if (!response.headersSent) response.setHeader('connection', 'close')
    setTimeout(() => {
      if (!response.req.complete) response.destroy()
    }, patience).unref()
  }

  function cutWhenIdle (): void {
    if (!closing || underWay.size > 0) return
    app.server.closeAllConnections()
    for (const socket of connections) socket.destroy()
  }

  app.addHook('onRequest', (_request, { raw }, next) => {
    underWay.add(raw)
    raw.once('close', () => {
      underWay.delete(raw)
      cutWhenIdle()
    })
    if (closing) endSoon(raw)
    next()
  })
  app.addHook('preClose', (next) => {
    closing = true
    underWay.forEach(endSoon)
    cutWhenIdle()
    next()
  })
  done()
}, { name: 'draining', fastify: '5.x' })
