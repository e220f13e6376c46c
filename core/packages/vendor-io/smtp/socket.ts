import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import type { Guard } from '../http/guard.ts'
import type { Route } from '../http/transport.ts'
import { unconnected } from '../outcome/request-outcome.ts'

export type SocketOptions = { guard: Guard, route?: Route }

/** The time limit in milliseconds for name resolution and connection together. */
export const connectWithin = 10_000

/** A connection to an address that the guard permits. Throws a {@link RequestFailure}. */
export async function openSocket ({ guard, route }: SocketOptions, { host, port }: { host: string, port: number }): Promise<Socket> {
  const to = route?.(host, port) ?? { host, port }
  try {
    guard.check(to.host)
    return await connected(connect({ host: to.host.replace(/^\[(.*)\]$/, '$1'), port: to.port, lookup: guard.lookup }))
  } catch (cause) {
    throw unconnected(host, cause)
  }
}

async function connected (socket: Socket): Promise<Socket> {
  const late = (): unknown => socket.destroy(Object.assign(new Error('No connection in time.'), { code: 'ETIMEDOUT' }))
  socket.setTimeout(connectWithin, late)
  await once(socket, 'connect')
  return socket.setTimeout(0).off('timeout', late)
}
