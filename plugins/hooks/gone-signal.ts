import { ClientGone } from '@dispatch/core'
import type { FastifyReply } from 'fastify'

/** Aborted when the connection of a request ends before its answer. */
export function goneSignal ({ raw, request: { socket } }: FastifyReply): AbortSignal {
  const gone = new AbortController()
  const leave = (): void => {
    gone.abort(new ClientGone())
  }
  if (raw.closed || socket.destroyed) leave()
  else raw.once('close', leave)
  return gone.signal
}
