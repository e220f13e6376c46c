import { createSemaphore } from '@dispatch/common'

/** Limits how much work runs at the same time. */
export type WorkSemaphore = {
  /** Waits until a permit is free, and takes it with all others that are, `most` in all. Answers the functions that give them back. */
  take: (most: number) => Promise<(() => void)[]>
}

export function createWorkSemaphore (permits: number): WorkSemaphore {
  const semaphore = createSemaphore(permits, Infinity)
  return {
    async take (most) {
      await semaphore.acquire()
      const taken = [semaphore.release]
      while (taken.length < most && semaphore.tryAcquire()) taken.push(semaphore.release)
      return taken
    }
  }
}
