/** A semaphore: lets a number of holders in at a time; the others wait in their order. */
export type Semaphore = {
  /** Waits for a permit; false at once when too many wait already. */
  acquire: () => Promise<boolean>
  /** Gives the permit to whoever has waited longest. */
  release: () => void
}

/** `permits` holders at a time; `waiting` more may wait. */
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

/** Too many wait for a semaphore already; the job was not begun. */
export class SemaphoreFull extends Error {
  override name = 'SemaphoreFull'
}

/** Whose permit it is: a company's by its id, a client's by its name. */
type Owner = number | string

/** A semaphore shared fairly: each owner has a few permits of its own and a queue of its own, so that nobody holds up the others. */
export type FairSemaphore = {
  /**
   * Waits for a permit; answers how to release it (more than once is harmless), or undefined at once when too many of the owner's wait
   * already.
   */
  acquire: (owner: Owner) => Promise<(() => void) | undefined>
  /** Runs a job under a permit; rejects with {@link SemaphoreFull} when too many of the owner's wait already. */
  run: <T>(owner: Owner, job: () => Promise<T>) => Promise<T>
}

/** `waiting`: how many of one owner may wait; `perOwner`, `total`: how many permits one owner, and all together, may hold. */
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
