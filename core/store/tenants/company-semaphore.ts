import { withTimeLimit } from '@dispatch/common'
import { DatabaseUnavailable } from '../db/unavailable.ts'

/** Limits how much of what all companies share one company may use at a time. */
export type CompanySemaphore = {
  /**
   * Runs the work once the company has a free permit. Throws {@link DatabaseUnavailable} (`busy`) when none becomes free within the time
   * limit.
   */
  run: <T>(companyId: number, work: () => Promise<T>) => Promise<T>
}

/** The permits of one company that are in use, and who waits for one. */
type Permits = { used: number, waiting: Set<() => void> }

/** `permits`: how many each company has; `timeLimit`: milliseconds that work waits for one. */
export function createCompanySemaphore ({ permits: most, timeLimit }: { permits: number, timeLimit: number }): CompanySemaphore {
  const companies = new Map<number, Permits>()

  async function acquire (permits: Permits): Promise<void> {
    if (permits.used < most) {
      permits.used++
      return
    }
    const { promise, resolve } = Promise.withResolvers<undefined>()
    const take = (): void => resolve(undefined)
    permits.waiting.add(take)
    await withTimeLimit(timeLimit, promise, () => {
      permits.waiting.delete(take)
      return new DatabaseUnavailable('busy')
    })
  }

  /** Hands the permit to whoever has waited longest. */
  function release (companyId: number, permits: Permits): void {
    const [next] = permits.waiting
    if (next !== undefined) {
      permits.waiting.delete(next)
      next()
    } else if (--permits.used === 0) companies.delete(companyId)
  }

  return {
    async run (companyId, work) {
      const permits = companies.get(companyId) ?? { used: 0, waiting: new Set() }
      companies.set(companyId, permits)
      await acquire(permits)
      try {
        return await work()
      } finally {
        release(companyId, permits)
      }
    }
  }
}
