import { LRUCache } from 'lru-cache'
import { RateLimiterMemory, RateLimiterPostgres, RateLimiterRes } from 'rate-limiter-flexible'
import type { RateLimitStatus } from '../../contract/errors.ts'
import type { Database } from '../db/database.ts'

/** So many (`quota`) in a time (`window`, seconds) that begins with the first. `name` is what clients read of it. */
export type RateLimit = { name: string, quota: number, window: number }

/** Counts clients within a limit, the same in all processes. */
export type RateLimiter = {
  /** Counts one, unless the limit is reached already. */
  take: (client: string) => Promise<RateLimitStatus & { exceeded: boolean }>
  /** What is left of a limit that this process has seen exceeded, without a query; undefined of any other. */
  spent: (client: string) => RateLimitStatus | undefined
  /** Takes one back that was counted. */
  giveBack: (client: string) => Promise<void>
}

/** Clients over their limit that a process remembers; of those beyond it asks the database again. */
const mostSpent = 10_000

/**
 * A limiter whose counters lie in the database. Who is over the limit is known without asking it again; while it is away, each
 * process counts for itself.
 */
export function createRateLimiter ({ pool }: Database, { name, quota, window }: RateLimit): RateLimiter {
  const counted = { keyPrefix: name, points: quota, duration: window }
  const limiter = new RateLimiterPostgres({
    ...counted,
    storeClient: pool,
    storeType: 'pool',
    tableName: 'limits',
    tableCreated: true,
    insuranceLimiter: new RateLimiterMemory(counted)
  })
  const over = new LRUCache<string, true>({ max: mostSpent })
  const budgetOf = (remaining: number, milliseconds: number): RateLimitStatus => ({
    policy: name,
    quota,
    window,
    remaining,
    reset: Math.max(1, Math.ceil(milliseconds / 1000))
  })
  const spent = (client: string): RateLimitStatus | undefined => over.has(client) ? budgetOf(0, over.getRemainingTTL(client)) : undefined
  return {
    spent,
    async take (client) {
      const budget = spent(client)
      if (budget !== undefined) return { ...budget, exceeded: true }
      try {
        const { remainingPoints, msBeforeNext } = await limiter.consume(client)
        return { ...budgetOf(remainingPoints, msBeforeNext), exceeded: false }
      } catch (refused) {
        if (!(refused instanceof RateLimiterRes)) throw refused
        over.set(client, true, { ttl: Math.max(1, refused.msBeforeNext) })
        return { ...budgetOf(0, refused.msBeforeNext), exceeded: true }
      }
    },
    async giveBack (client) {
      await limiter.reward(client)
    }
  }
}
