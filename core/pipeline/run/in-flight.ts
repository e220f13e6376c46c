import { type Log, withTimeLimit } from '@dispatch/common'
import { DispatchError } from '@dispatch/contract'

/** Work that goes on after the request that began it. */
export type InFlight = {
  /** Resolves when the work does. */
  follow: <T>(work: Promise<T>, dispatchId: string) => Promise<T>
  /** As `follow`, but throws `timeout` after the limit. The work then goes on, and `late` is called. */
  within: <T>(work: Promise<T>, dispatchId: string, late: () => Promise<void>) => Promise<T>
  /** Resolves when all work has ended. */
  drain: () => Promise<void>
}

/** `limit`: seconds that a client waits. */
export function createInFlight ({ limit, log }: { limit: number, log: Log }): InFlight {
  const running = new Set<Promise<unknown>>()
  function follow<T> (work: Promise<T>, dispatchId: string): Promise<T> {
    const ended = work.then(() => undefined, (error: unknown) => log.debug({ err: error, dispatchId }, 'dispatch ended with an error'))
      .finally(() => running.delete(ended))
    running.add(ended)
    return work
  }

  return {
    follow,
    within: (work, dispatchId, tell) =>
      withTimeLimit(limit * 1000, follow(work, dispatchId), () => {
        log.warn({ dispatchId, limit }, 'the synchronous limit has passed; the dispatch goes on')
        tell().catch((error: unknown) => log.warn({ err: error, dispatchId }, 'the dispatch could not be marked as detached'))
        return new DispatchError('timeout',
          `The dispatch takes longer than ${limit} seconds and goes on; read it with GET /api/v1/dispatches/${dispatchId}.`, {
          dispatchId
        })
      }),
    async drain () {
      while (running.size > 0) await Promise.all(running)
    }
  }
}
