import { CompiledQuery } from 'kysely'
import type { Database } from './database.ts'
import { createSharedRun } from './shared-run.ts'

/**
 * Tells whether cached values are valid: until their company, or what all companies share, changes after the `number` they were read at.
 */
export type Freshness = {
  /** Resolves when every change that was committed before this call is known. Concurrent calls share one query. */
  check: () => Promise<void>
  /** The number of the last known change. */
  number: () => number
  /** Whether the company (0: every company) is unchanged since `number`, as of the last check. */
  unchanged: (companyId: number, number: number) => boolean
  /** Takes in all changes after `number()` that a statement has read beside what it was sent for: it was a check, too. */
  learn: (changes: readonly Change[]) => void
}

/** The number of the last change of a company (0: of what all share). */
export type Change = { company_id: number, number: number | string }

/** In milliseconds: under load, several requests share a query. */
const betweenReads = 2

/**
 * Keeps caches up to date in every process: each request asks once for the changes since the last request. The query reads one index.
 * Requests that arrive at the same time share one.
 */
export function createFreshness ({ owner }: Database): Freshness {
  const changed = new Map<number, number>()
  let latest = 0

  async function read (): Promise<void> {
    const { rows } = await owner.executeQuery(changesAfter(latest))
    learn(rows)
  }

  function learn (changes: readonly Change[]): void {
    for (const { company_id: companyId, number } of changes) {
      changed.set(companyId, Math.max(changed.get(companyId) ?? 0, Number(number)))
      latest = Math.max(latest, Number(number))
    }
  }

  return {
    // A query that runs may have read its data before: only one that starts later counts.
    check: createSharedRun(read, { minInterval: betweenReads }),
    number: () => latest,
    learn,
    unchanged: (companyId, number) =>
      companyId === 0 ? latest <= number : Math.max(changed.get(companyId) ?? 0, changed.get(0) ?? 0) <= number
  }
}

/** Its text is written by hand, without a query builder, because nearly every request waits for it. */
function changesAfter (number: number): CompiledQuery<Change> {
  return CompiledQuery.raw('select company_id, number from changes where number > $1', [number])
}
