import type { Actor } from '@dispatch/accounts'
import type { Log } from '@dispatch/common'
import { refusal } from '@dispatch/contract'
import type { Database } from '@dispatch/database'
import { token } from '@dispatch/plugins/feature'
import { runEvery } from '@dispatch/queue'
import { type Grouping, groupings, maxRows, type UsageQuery, type UsageView } from '../contract/usage.ts'
import { countHours } from '../store/count.ts'
import { readPrices } from '../store/prices.ts'
import { maxCounts, readCountedAt, readUsage, type UsageFilter } from '../store/read.ts'
import { pricedMeasures } from './prices.ts'
import { rowsOf } from './rows.ts'

/** What companies use. */
export type Usage = {
  /** Counts what has happened since it was counted last. */
  count: () => Promise<void>
  read: (actor: Pick<Actor, 'companyId' | 'key'>, query: UsageQuery) => Promise<UsageView>
}

export const usage = token<Usage>('usage')

/** In milliseconds. */
const [hour, day] = [3_600_000, 86_400_000]
const [usualPeriod, longestPeriod, longestLive] = [30 * day, 400 * day, 31 * day]
/** Milliseconds between two looks for what is to be counted. */
const countEvery = 60_000

/**
 * Counts and reads what companies use, by the hour (UTC). `retentionDays`: for how long dispatches can be counted again. Throws
 * `validation_error` for a time that is too long or in the wrong order, and for too many groups.
 */
export function createUsage ({ database, retentionDays }: { database: Database, retentionDays: number }): Usage {
  return {
    async count () {
      const time = await database.time()
      // What is forgotten today may be gone while it is counted.
      await countHours(database, new Date(time.getTime() - (retentionDays - 1) * day))
    },

    async read ({ companyId, key }, query) {
      const requested: UsageFilter = {
        ...spanOf(query, await database.time()),
        ...groupsIn(query),
        companyId,
        test: key?.mode === 'test' || query.test === true
      }
      requireShort(requested)
      const paid = await readPrices(database, companyId)
      const isPriced = paid.prices.length > 0 && !requested.test
      const reported = isPriced ? { ...requested, priced: pricedMeasures } : requested
      const [counted, countedAt] = await Promise.all([readUsage(database, reported), readCountedAt(database)])
      if (counted.length > maxCounts) {
        const message = 'Tells too many groups apart: ask for a shorter time, or for less at once.'
        throw refusal('validation_error', [{ path: '/query/by', code: 'too_many', message }])
      }
      const rows = rowsOf(counted, requested, paid)
      return {
        from: requested.from.toISOString(),
        to: requested.to.toISOString(),
        countedAt: countedAt?.toISOString() ?? null,
        currency: isPriced ? paid.currency : null,
        data: rows.slice(0, maxRows),
        leftOut: Math.max(0, rows.length - maxRows)
      }
    }
  }
}

/** Counts every minute. */
export function workOnUsage ({ count }: Usage, log: Log): AsyncDisposable {
  const counting = runEvery(countEvery, count, (err) => {
    log.warn({ err }, 'usage could not be counted')
  })
  return { [Symbol.asyncDispose]: counting.close }
}

/** Whole hours. */
function spanOf ({ from, to }: UsageQuery, time: Date): { from: Date, to: Date } {
  const end = Math.ceil((to === undefined ? time.getTime() : Date.parse(to)) / hour) * hour
  const begin = from === undefined ? end - usualPeriod : Math.floor(Date.parse(from) / hour) * hour
  if (end <= begin) {
    const message = 'Must lie before "to", which is now where it is left out.'
    throw refusal('validation_error', [{ path: '/query/from', code: 'order', message }])
  }
  if (end - begin > longestPeriod) throw tooLong('400 days')
  return { from: new Date(begin), to: new Date(end) }
}

function groupsIn ({ by = '', per, service, provider, userId }: UsageQuery): Omit<UsageFilter, 'from' | 'to' | 'companyId' | 'test'> {
  const named = by === '' ? [] : by.split(',')
  const [metadata, ...more] = named.filter((name) => name.startsWith('metadata.')).map((name) => name.slice('metadata.'.length))
  if (more.length > 0) {
    throw refusal('validation_error', [{ path: '/query/by', code: 'several', message: 'Names more than one pair of metadata.' }])
  }
  return { by: named.filter((name): name is Grouping => groupings.some((one) => one === name)), metadata, per, service, provider, userId }
}

function requireShort ({ from, to, metadata, per }: UsageFilter): void {
  if (to.getTime() - from.getTime() <= longestLive) return
  if (metadata !== undefined) throw tooLong('31 days, which is the most that is counted by metadata')
  if (per === 'hour') throw tooLong('31 days, which is the most that is told by hours')
}

function tooLong (max: string) {
  return refusal('validation_error', [{ path: '/query/from', code: 'too_long', message: `Lies before "to" by more than ${max}.` }])
}
