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

/** Too many callers wait for the semaphore. The job was not started. */
export class SemaphoreFull extends Error {
  override name = 'SemaphoreFull'
}

/** The owner of a permit: a company by its id, or a client by its name. */
type Owner = number | string

/** A fair semaphore: each owner has a limit of permits and a queue of its own, so that no owner delays the others. */
export type FairSemaphore = {
  /**
   * Waits for a permit. It resolves to the function that releases it (which may be called more than once), or to undefined: at once when
   * too many callers of this owner are waiting, or when no permit of this owner came free in time.
   */
  acquire: (owner: Owner) => Promise<(() => void) | undefined>
  /** Runs a job with a permit. Rejects with the error of `full` when there is none. */
  run: <T>(owner: Owner, job: () => Promise<T>) => Promise<T>
}

/**
 * `waiting`: how many callers of one owner may wait. `timeLimit`: for how many milliseconds each of them waits. `perOwner` and `total`: how
 * many permits one owner and all owners together may hold. `full` makes the error of a job that got no permit.
 */
export type FairSemaphoreOptions = { waiting: number, timeLimit?: number, perOwner?: number, total?: number, full?: () => Error }

/** Creates a fair semaphore. Without options, each owner has one permit, and the total is not limited. */
export function createFairSemaphore ({
  waiting,
  timeLimit,
  perOwner = 1,
  total = Infinity,
  full = () => new SemaphoreFull('Too many jobs of the same owner are waiting.')
}: FairSemaphoreOptions): FairSemaphore {
  const lines = new Map<Owner, { semaphore: Semaphore, users: number }>()
  const all = createSemaphore(total, Infinity)

  async function acquire (owner: Owner): Promise<(() => void) | undefined> {
    const line = lines.get(owner) ?? { semaphore: createSemaphore(perOwner, waiting, timeLimit), users: 0 }
    lines.set(owner, line)
    line.users++
    const leave = (): void => {
      if (--line.users === 0) lines.delete(owner)
    }
    if (!await line.semaphore.acquire()) {
      leave()
      return undefined
    }
    await all.acquire()
    return once(() => {
      all.release()
      line.semaphore.release()
      leave()
    })
  }

  return {
    acquire,
    async run (owner, job) {
      const release = await acquire(owner)
      if (release === undefined) throw full()
      try {
        return await job()
      } finally {
        release()
      }
    }
  }
}

/** Does the work at the first call alone. */
export function once (work: () => void): () => void {
  let done = false
  return () => {
    if (done) return
    done = true
    work()
  }
}
