/** A semaphore: a limited number of permits. Callers wait in their order. */
export type Semaphore = {
  /** Waits for a permit; false at once when too many callers are waiting, or when none came free in time. */
  acquire: () => Promise<boolean>
  /** Takes a permit if one is free; nobody waits then. */
  tryAcquire: () => boolean
  /** Gives the permit back. The caller that has waited longest gets it. */
  release: () => void
  /** Gives no more permits: whoever waits, and whoever comes, gets false. */
  close: () => void
}

/** `permits`: the number of permits. `waiting`: how many callers may wait. `timeLimit`: milliseconds for which each of them waits. */
export function createSemaphore (permits: number, waiting: number, timeLimit = Infinity): Semaphore {
  const queue = new Set<(granted: boolean) => void>()
  let free = permits
  let closed = false

  async function wait (): Promise<boolean> {
    const { promise, resolve } = Promise.withResolvers<boolean>()
    queue.add(resolve)
    if (timeLimit === Infinity) return promise
    const timer = setTimeout(() => {
      queue.delete(resolve)
      resolve(false)
    }, timeLimit)
    return promise.finally(() => clearTimeout(timer))
  }

  function tryAcquire (): boolean {
    if (closed || free === 0) return false
    free--
    return true
  }

  return {
    tryAcquire,
    async acquire () {
      return tryAcquire() || (!closed && queue.size < waiting && wait())
    },
    release () {
      const [next] = queue
      if (next === undefined) free++
      else {
        queue.delete(next)
        next(true)
      }
    },
    close () {
      closed = true
      for (const refuse of queue) refuse(false)
      queue.clear()
    }
  }
}
