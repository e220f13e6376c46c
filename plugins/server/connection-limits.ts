import { clientKeyOf } from '@dispatch/accounts'
import type { Server as HttpServer } from 'node:http'
import type { Socket } from 'node:net'
import type { TransportLimits } from './transport-limits.ts'

type Limits = Pick<TransportLimits, 'connections' | 'connectionsOfAddress'>

/**
 * Limits the open connections of a server: in total, and per address. A connection beyond a limit is closed before a byte is read. A
 * trusted proxy stands for many clients: its address has no limit of its own.
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
