import { createSemaphore } from '@dispatch/common'

/** Limits how much work runs at the same time. */
export type WorkSemaphore = {
  /** Waits until a permit is free, and takes it with all others that are, `most` in all. Answers how many; 0 once it is closed. */
  take: (most: number) => Promise<number>
  /** Gives so many permits back. */
  release: (permits: number) => void
  /** Gives no more permits, not to those who wait either. */
  close: () => void
}

export function createWorkSemaphore (permits: number): WorkSemaphore {
  const semaphore = createSemaphore(permits, Infinity)
  return {
    async take (most) {
      let taken = await semaphore.acquire() ? 1 : 0
      while (taken > 0 && taken < most && semaphore.tryAcquire()) taken++
      return taken
    },
    release (permits) {
      for (let given = 0; given < permits; given++) semaphore.release()
    },
    close: semaphore.close
  }
}
