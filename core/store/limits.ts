import { RateLimiterMemory, RateLimiterPostgres, RateLimiterRes } from 'rate-limiter-flexible'
import type { Budget } from '../contract/errors.ts'
import type { Database } from './database.ts'

/** So many (`quota`) in a time (`window`, seconds) that begins with the first. `name` is what clients read of it. */
export type Quota = { name: string, quota: number, window: number }

/** Counts clients within a limit, the same in all processes. */
export type Limiter = {
  /** Counts one, unless the limit is reached already. */
  take: (client: string) => Promise<Budget & { exceeded: boolean }>
  /** Takes one back that was counted. */
  giveBack: (client: string) => Promise<void>
}

/**
 * A limiter whose counters lie in the database. Who is over the limit is known without asking it again; while it is away, each
 * process counts for itself.
 */
export function createLimiter ({ pool }: Database, { name, quota, window }: Quota): Limiter {
  const counted = { keyPrefix: name, points: quota, duration: window }
  const limiter = new RateLimiterPostgres({
    ...counted,
    storeClient: pool,
    storeType: 'pool',
    tableName: 'limits',
    tableCreated: true,
    inMemoryBlockOnConsumed: quota + 1,
    insuranceLimiter: new RateLimiterMemory(counted)
  })
  const budgetOf = ({ remainingPoints, msBeforeNext }: RateLimiterRes): Budget => ({ policy: name, quota, window, remaining: remainingPoints, reset: Math.max(1, Math.ceil(msBeforeNext / 1000)) })
  return {
    async take (client) {
      try {
        return { ...budgetOf(await limiter.consume(client)), exceeded: false }
      } catch (refused) {
        if (refused instanceof RateLimiterRes) return { ...budgetOf(refused), exceeded: true }
        throw refused
      }
    },
    async giveBack (client) {
      await limiter.reward(client)
    }
  }
}
