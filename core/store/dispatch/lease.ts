import { sql } from 'kysely'
import type { OwnerQueries } from '../db/database.ts'
import type { PreparedJobs } from '../db/jobs.ts'
import { addSeconds, type SqlTimestamp } from '../db/sql-timestamp.ts'

/** Whoever has it works on a dispatch, alone, for so many seconds of the database's clock. */
export type Lease = { runId: string, seconds: number }

/** What is done in a transaction beside what it records. */
export type TransactionHook = (queries: OwnerQueries) => Promise<void>

/** How a dispatch begins or goes on: at once, under the lease of a run, or when its job is taken from the queue. */
export type DispatchStart = { lease: Lease } | { jobs: readonly PreparedJobs[] }

/**
 * When a step in doubt is looked at next, in seconds since its doubt began; `last`: when that is over, and nothing is looked at any more.
 */
export type ReconcileSchedule = { after: number, last: number }

/** The moment of the next look at a step whose doubt began then: a second from now at the earliest; null when its time is over. */
export function nextReconcileAt (now: SqlTimestamp, since: SqlTimestamp, { after, last }: ReconcileSchedule): SqlTimestamp {
  const end = addSeconds(since, last)
  return sql<Date>`case when ${end} > ${now} then least(${end}, greatest(${addSeconds(since, after)}, ${addSeconds(now, 1)})) end`
}
