import { ClientGone } from '@dispatch/accounts'
import type { FastifyReply, FastifyRequest } from 'fastify'

type Answering = { raw: FastifyReply['raw'], request: Pick<FastifyRequest, 'socket'> }

/** One for each answer, whoever asks for it: a request waits in several places. */
const signals = new WeakMap<FastifyReply['raw'], AbortSignal>()

/** The same for all, because every answer ends with its connection's turn, and nobody reads its stack. */
const clientGone = new ClientGone()

/** Aborted when the connection of a request ends before its answer. */
export function goneSignal ({ raw, request: { socket } }: Answering): AbortSignal {
  const known = signals.get(raw)
  if (known !== undefined) return known
  const gone = new AbortController()
  const leave = (): void => {
    gone.abort(clientGone)
  }
  if (raw.closed || socket.destroyed) leave()
  else raw.once('close', leave)
  signals.set(raw, gone.signal)
  return gone.signal
}
