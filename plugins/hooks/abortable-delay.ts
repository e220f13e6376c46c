import type { FastifyInstance } from 'fastify'
import { setTimeout as pause } from 'node:timers/promises'

/** Creates a delay, in milliseconds, that ends at once when the server closes. */
export function createAbortableDelay (app: FastifyInstance): (milliseconds: number) => Promise<void> {
  const closing = new AbortController()
  app.addHook('preClose', (next) => {
    closing.abort()
    next()
  })
  return async (milliseconds) => {
    await pause(milliseconds, undefined, { signal: closing.signal, ref: false }).catch((error: unknown) => {
      if (!closing.signal.aborted) throw error
    })
  }
}
