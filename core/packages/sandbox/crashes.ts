import { observe } from '@dispatch/common'
import type { Log } from '@dispatch/host/provider'
import { failureError } from '@dispatch/vendor-io/outcome'
import { LRUCache } from 'lru-cache'
import type { Adapter } from './adapter.ts'

/** Processes that ended by themselves, by key: one that crashes again and again rests before it is started anew. */
export type Crashes = {
  note: (key: string, code: string) => void
  /** Throws a failure while the process of a key rests. */
  refuseWhileResting: (key: string, adapter: Adapter) => void
  /** After work that went well. */
  forget: (key: string) => void
  /** The codes of the adapters that rest now. */
  resting: () => string[]
}

type Crashed = { code: string, count: number, until: number }

/** Milliseconds: the longest rest. */
const longestRest = 60_000

/**
 * Counts crashes in a row: from the second one on a process rests for a second, then for twice as long each time, at most 60 seconds.
 * Meanwhile it throws `provider_unavailable`.
 */
export function createCrashes (log: Log): Crashes {
  const crashes = new LRUCache<string, Crashed>({ max: 5_000 })
  return {
    note (key, code) {
      observe('adapterCrash', { provider: code })
      const count = (crashes.get(key)?.count ?? 0) + 1
      const rest = count === 1 ? 0 : Math.min(1000 * 2 ** (count - 2), longestRest)
      crashes.set(key, { code, count, until: Date.now() + rest })
      if (rest > 0) log.error({ provider: code, crashes: count, seconds: rest / 1000 }, 'an adapter crashed again, and rests')
    },
    refuseWhileResting (key, { code }) {
      const left = (crashes.get(key)?.until ?? 0) - Date.now()
      if (left <= 0) return
      throw failureError({
        word: 'provider_unavailable',
        message: `The provider "${code}" crashed several times, and is started again later.`,
        retryAfter: Math.ceil(left / 1000)
      })
    },
    forget: (key) => void crashes.delete(key),
    resting: () => [...new Set([...crashes.values()].filter(({ until }) => until > Date.now()).map(({ code }) => code))]
  }
}
