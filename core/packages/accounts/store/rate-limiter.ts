import { createRecent } from '@dispatch/common'
import type { RateLimitStatus } from '@dispatch/contract'
import type { Database } from '@dispatch/database'
import { RateLimiterMemory, RateLimiterPostgres, RateLimiterRes } from 'rate-limiter-flexible'

/** At most `quota` requests within `window` seconds from the first one. `name`: what clients read. */
export type RateLimit = { name: string, quota: number, window: number }

/** Counts requests of clients against a limit that all processes share. */
export type RateLimiter = {
  /** Counts one request, unless the limit is reached. */
  take: (client: string) => Promise<RateLimitStatus & { exceeded: boolean }>
  /** The state of a limit that this process has seen exceeded, without a query. Undefined for any other. */
  spent: (client: string) => RateLimitStatus | undefined
  /** Removes one counted request. */
  giveBack: (client: string) => Promise<void>
}

/** How many clients over their limit a process remembers. For others it asks the database again. */
const maxSpent = 10_000

/**
 * Makes a limiter with its counters in the database: `quota` calls in `window` seconds. A process remembers who is over the limit. While
 * the database is away, each process counts by itself.
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
  const over = createRecent<string, true>(maxSpent)
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
