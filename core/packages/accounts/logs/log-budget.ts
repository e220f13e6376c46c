import type { Log } from '@dispatch/common'
import { DatabaseUnavailable } from '@dispatch/database'
import type { LogCount } from '../store/log-counts.ts'
import type { Meter } from '../store/meter.ts'
import type { BatchLog } from './batch-log.ts'

/** Whose entry it is, how many bytes it takes, and as what it counts where its company has none left. */
export type EntryWeight = { companyId: number, at: Date, bytes: number, subject: string, result: string }

export type LogBudgetOptions = {
  /** The bytes of a company, which come back in a day. */
  meter: Meter
  write: (counts: readonly LogCount[]) => Promise<void>
  log: Pick<Log, 'warn'>
  /** Milliseconds for which counts are gathered. */
  pause?: number
}

/** What a row takes beside its texts, in bytes: its other columns, its header and its place in the indices. */
export const rowOverhead = 300

const hour = 3_600_000

/**
 * A log of which each company fills its share alone: beyond its budget an entry is counted, by the hour, and not kept. The counts are few:
 * they are of routes and statuses, not of what was sent.
 */
export function withinBudget<Entry> (
  name: string,
  kept: BatchLog<Entry>,
  weigh: (entry: Entry) => EntryWeight,
  { meter, write, log, pause = 5_000 }: LogBudgetOptions
): BatchLog<Entry> {
  const counts = new Map<string, LogCount>()
  let timer: NodeJS.Timeout | undefined
  let writing: Promise<void> = Promise.resolve()

  function add (more: LogCount): void {
    const key = JSON.stringify([more.company_id, more.hour, more.subject, more.result])
    const known = counts.get(key)
    if (known === undefined) counts.set(key, more)
    else known.count += more.count
    timer ??= setTimeout(flush, pause).unref()
  }

  async function writeAll (): Promise<void> {
    const written = [...counts.values()]
    if (written.length === 0) return
    counts.clear()
    try {
      await write(written)
    } catch (error) {
      log.warn({ err: error, counts: written.length }, `counts of ${name} could not be written`)
      if (error instanceof DatabaseUnavailable) written.forEach(add)
    }
  }

  function flush (): void {
    clearTimeout(timer)
    timer = undefined
    writing = writing.then(writeAll)
  }

  return {
    add (entry) {
      const { companyId, at, bytes, subject, result } = weigh(entry)
      if (meter.take(String(companyId), bytes + rowOverhead).exceeded) {
        add({ company_id: companyId, log: name, hour: new Date(Math.floor(at.getTime() / hour) * hour), subject, result, count: 1 })
      } else {
        kept.add(entry)
      }
    },

    async close () {
      flush()
      await writing
      clearTimeout(timer)
      await kept.close()
    }
  }
}
