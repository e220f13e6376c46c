import { sql } from 'kysely'
import type { OwnerQueries } from '../db/database.ts'
import type { NewJobs } from '../db/jobs.ts'
import { later, type Moment } from '../db/sql-timestamp.ts'

/** Whoever has it works on a dispatch, alone, for so many seconds of the database's clock. */
export type Lease = { runId: string, seconds: number }

/** What is done in a transaction beside what it records. */
export type Enqueue = (queries: OwnerQueries) => Promise<void>

/** How a dispatch begins or goes on: at once, under the lease of a run, or when its job is taken from the queue. */
export type Beginning = { lease: Lease } | { jobs: readonly NewJobs[] }

/** When a step in doubt is looked at next, in seconds since its doubt began; `last`: when that is over, and nothing is looked at any more. */
export type NextLook = { after: number, last: number }

/** The moment of the next look at a step whose doubt began then: a second from now at the earliest; null when its time is over. */
export function nextLookAt (now: Moment, since: Moment, { after, last }: NextLook): Moment {
  const end = later(since, last)
  return sql<Date>`case when ${end} > ${now} then least(${end}, greatest(${later(since, after)}, ${later(now, 1)})) end`
}
