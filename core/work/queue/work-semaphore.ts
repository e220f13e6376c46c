import { createSemaphore } from '@dispatch/common'

/** Limits how much work runs at the same time. */
export type WorkSemaphore = {
  /** Begins the work when a permit is free, and holds it until the work ends. Resolves when the work has begun. It never rejects. */
  begin: (work: () => Promise<unknown>) => Promise<void>
  /** Resolves when a permit is free and nobody waits for it. */
  free: () => Promise<void>
}

export function createWorkSemaphore (most: number): WorkSemaphore {
  const semaphore = createSemaphore(most, Infinity)
  return {
    async begin (work) {
      await semaphore.acquire()
      void work().finally(semaphore.release)
    },
    async free () {
      await semaphore.acquire()
      semaphore.release()
    }
  }
}
