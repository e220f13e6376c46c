/** A semaphore: a limited number of permits. Callers wait in their order. */
export type Semaphore = {
  /** Waits for a permit; false at once when too many callers are waiting. */
  acquire: () => Promise<boolean>
  /** Gives the permit back. The caller that has waited longest gets it. */
  release: () => void
}

/** `permits`: the number of permits. `waiting`: how many callers may wait. */
export function createSemaphore (permits: number, waiting: number): Semaphore {
  const queue: (() => void)[] = []
  let free = permits
  return {
    async acquire () {
      if (free > 0) {
        free--
        return true
      }
      if (queue.length >= waiting) return false
      await new Promise<void>((resolve) => {
        queue.push(resolve)
      })
      return true
    },
    release () {
      const next = queue.shift()
      if (next === undefined) free++
      else next()
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
   * Waits for a permit. It resolves to the function that releases it (which may be called more than once), or to undefined at once when too
   * many callers of this owner are waiting.
   */
  acquire: (owner: Owner) => Promise<(() => void) | undefined>
  /** Runs a job with a permit. Rejects with {@link SemaphoreFull} when too many callers of this owner are waiting. */
  run: <T>(owner: Owner, job: () => Promise<T>) => Promise<T>
}

/**
 * `waiting`: how many callers of one owner may wait. `perOwner` and `total`: how many permits one owner and all owners together may hold.
 */
export function createFairSemaphore (waiting: number, perOwner = 1, total = Infinity): FairSemaphore {
  const lines = new Map<Owner, { semaphore: Semaphore, users: number }>()
  const all = createSemaphore(total, Infinity)

  async function acquire (owner: Owner): Promise<(() => void) | undefined> {
    const line = lines.get(owner) ?? { semaphore: createSemaphore(perOwner, waiting), users: 0 }
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
      if (release === undefined) throw new SemaphoreFull('Too many jobs of the same owner are waiting.')
      try {
        return await job()
      } finally {
        release()
      }
    }
  }
}

function once (work: () => void): () => void {
  let done = false
  return () => {
    if (!done) work()
    done = true
  }
}
