import { createSemaphore } from '@dispatch/common'

/** Room for so much work at once. */
export type WorkSemaphore = {
  /** Begins the work when there is a place for it, which it has until its end; resolves when the work calls `begun`, or with it. */
  begin: (work: (begun: () => void) => Promise<unknown>) => Promise<void>
}

export function createWorkSemaphore (most: number): WorkSemaphore {
  const semaphore = createSemaphore(most, Infinity)
  return {
    async begin (work) {
      await semaphore.acquire()
      const begun = Promise.withResolvers<undefined>()
      await Promise.race([begun.promise, work(() => begun.resolve(undefined)).finally(semaphore.release)])
    }
  }
}
