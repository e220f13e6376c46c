import { clientKeyOf } from '@dispatch/core'
import type { Server as HttpServer } from 'node:http'
import type { Socket } from 'node:net'
import type { TransportLimits } from './transport-limits.ts'

type Limits = Pick<TransportLimits, 'connections' | 'connectionsOfAddress'>

/**
 * Bounds the open connections of a server, in all and of each address; what is beyond is cut before a byte is read. The
 * addresses of `proxies` stand for many clients, and are not bounded by themselves.
 */
export function boundConnections (
  server: HttpServer,
  { connections, connectionsOfAddress }: Limits,
  isProxy: (address: string) => boolean
): void {
  const open = new Map<string, number>()
  server.maxConnections = connections
  server.on('connection', (socket: Socket) => {
    const { remoteAddress = '' } = socket
    if (isProxy(remoteAddress)) return
    const client = clientKeyOf(remoteAddress)
    const held = (open.get(client) ?? 0) + 1
    if (held > connectionsOfAddress) {
      socket.destroy()
      return
    }
    open.set(client, held)
    socket.once('close', () => {
      const left = (open.get(client) ?? 1) - 1
      if (left === 0) open.delete(client)
      else open.set(client, left)
    })
  })
}
