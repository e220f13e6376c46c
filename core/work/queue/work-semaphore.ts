import { createSemaphore } from '@dispatch/common'

/** Limits how much work runs at the same time. */
export type WorkSemaphore = {
  /** Begins the work when a permit is free, and holds it until the work ends. Resolves when the work calls `begun`, or ends. */
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
