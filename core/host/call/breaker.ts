import { LRUCache } from 'lru-cache'
import type { Outcome } from './dispatch.ts'

/** `closed`: calls pass. `open`: no call passes. `half-open`: one call may probe whether the vendor works again. */
export type BreakerState = 'closed' | 'open' | 'half-open'

/** Whether a call may begin; if not, in how many seconds one may. */
export type Admission = { pass: true } | { pass: false, retryAfter: number }

/**
 * The circuit breakers of this process, one for each company and provider. Only failures of the vendor count: `unavailable` and
 * `uncertain`. A refusal proves that the vendor works. Processes do not share their breakers.
 */
export type Breakers = {
  /** Each admitted call must be followed by `record`. */
  admit: (company: number, provider: string) => Admission
  record: (company: number, provider: string, outcome: Outcome) => void
  /** Counts a failure of the provider's own code that no call has told of. */
  fault: (company: number, provider: string) => void
  state: (company: number, provider: string) => BreakerState
  /** The providers with breakers that are not closed, and for how many companies. */
  failing: () => ReadonlyMap<string, number>
  /** Closes breakers: of one company or of all (null), of one provider or of all. */
  close: (which: { companyId: number | null, providerName?: string }) => void
}

/** After `failures` failures in a row, a breaker stays open for `pause` seconds. `now` is the clock. */
export type BreakersOptions = { now: () => Date, failures?: number, pause?: number }

/** `opened` and `probed` are times in milliseconds. A probe that never reports its end is forgotten after another pause. */
type Breaker = { failures: number, opened?: number, probed?: number }

const most = 50_000
const vendorFailed: Record<Outcome['outcome'], boolean> = { accepted: false, rejected: false, unavailable: true, uncertain: true }

export function createBreakers ({ now, failures: threshold = 5, pause = 30 }: BreakersOptions): Breakers {
  const breakers = new LRUCache<string, Breaker>({ max: most })
  const keyOf = (company: number, provider: string): string => `${company}|${provider}`
  const left = (since: number | undefined): number => since === undefined ? 0 : since + pause * 1000 - now().getTime()

  const fail = (key: string): void => {
    const failures = (breakers.get(key)?.failures ?? 0) + 1
    breakers.set(key, { failures, ...(failures >= threshold && { opened: now().getTime() }) })
  }

  return {
    admit (company, provider) {
      const breaker = breakers.get(keyOf(company, provider))
      if (breaker?.opened === undefined) return { pass: true }
      const wait = Math.max(left(breaker.opened), left(breaker.probed))
      if (wait > 0) return { pass: false, retryAfter: Math.ceil(wait / 1000) }
      breaker.probed = now().getTime()
      return { pass: true }
    },
    record (company, provider, outcome) {
      const key = keyOf(company, provider)
      // Our own fault proves nothing about the vendor.
      if ('error' in outcome && outcome.error.ours === true) return
      if (!vendorFailed[outcome.outcome]) {
        breakers.delete(key)
        return
      }
      fail(key)
    },
    fault (company, provider) {
      fail(keyOf(company, provider))
    },
    state (company, provider) {
      const opened = breakers.peek(keyOf(company, provider))?.opened
      if (opened === undefined) return 'closed'
      return left(opened) > 0 ? 'open' : 'half-open'
    },
    failing () {
      const open = [...breakers.entries()].filter(([, { opened }]) => opened !== undefined)
      const providers = Map.groupBy(open, ([key]) => key.slice(key.indexOf('|') + 1))
      return new Map([...providers].map(([provider, of]) => [provider, of.length]))
    },
    close ({ companyId, providerName }) {
      for (const key of [...breakers.keys()]) {
        const [company, provider] = key.split('|')
        if (companyId !== null && company !== String(companyId)) continue
        if (providerName === undefined || provider === providerName) breakers.delete(key)
      }
    }
  }
}
