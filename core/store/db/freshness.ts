import { CompiledQuery } from 'kysely'
import type { Database } from './database.ts'

/** When something cached was read: valid until its company, or what all companies share, changes after `number`. */
export type Freshness = {
  /** Resolves once every change committed before this call is known. Calls that arrive together share one query. */
  check: () => Promise<void>
  /** The number of the last known change. */
  number: () => number
  /** Whether nothing of the company (0: of any company) has changed after `number`, as far as the last check knows. */
  unchanged: (companyId: number, number: number) => boolean
}

/**
 * Caches stay exact in every process: each request asks once for the changes since the last request. The query is one
 * index probe, shared by all requests that arrive while the one before it is under way.
 */
export function createFreshness ({ owner }: Database): Freshness {
  const changed = new Map<number, number>()
  let latest = 0
  let running: Promise<void> | undefined
  let next: Promise<void> | undefined

  async function read (): Promise<void> {
    const { rows } = await owner.executeQuery(changesAfter(latest))
    for (const { company_id: companyId, number } of rows) {
      changed.set(companyId, Math.max(changed.get(companyId) ?? 0, Number(number)))
      latest = Math.max(latest, Number(number))
    }
  }

  function start (): Promise<void> {
    next = undefined
    running = read().finally(() => {
      running = undefined
    })
    return running
  }

  function check (): Promise<void> {
    if (running === undefined) return start()
    // A query that is under way may have read before this call: only one that starts later counts.
    next ??= running.then(start, start)
    return next
  }

  return {
    check,
    number: () => latest,
    unchanged: (companyId, number) =>
      companyId === 0 ? latest <= number : Math.max(changed.get(companyId) ?? 0, changed.get(0) ?? 0) <= number
  }
}

/** Compiled by hand, because nearly every request waits for it. */
function changesAfter (number: number): CompiledQuery<{ company_id: number, number: string }> {
  return CompiledQuery.raw('select company_id, number from changes where number > $1', [number])
}
