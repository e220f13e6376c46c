import plugin from 'fastify-plugin'
import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

/**
 * When the server closes, it finishes the open requests, each as the last of its connection, and then closes all connections. Without this,
 * Fastify would wait for idle keep-alive connections, and for ever for an incomplete request. `bodyTimeout`: how long the rest of a body
 * may take, in ms; the service has done nothing for such a request yet.
 */
export const drainingPlugin = plugin<{ bodyTimeout?: number }>((app, { bodyTimeout = 5_000 }, done) => {
  const underWay = new Set<ServerResponse>()
  /** All connections, including those in their TLS handshake, which the HTTP server does not know yet. */
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
    }, bodyTimeout).unref()
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
