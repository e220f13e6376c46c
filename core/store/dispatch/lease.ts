import type { OwnerQueries } from '@dispatch/database'
import type { PreparedJobs } from '@dispatch/tables'

/** The right to work on a dispatch alone, for `seconds` by the clock of the database. */
export type Lease = { runId: string, seconds: number }

/** More work inside a transaction of the store. */
export type TransactionHook = (queries: OwnerQueries) => Promise<void>

/** How a dispatch begins or continues: at once under the lease of a run, or later by its job in the queue. */
export type DispatchStart = { lease: Lease } | { jobs: readonly PreparedJobs[] }

/** When an uncertain step is reconciled next (`after`) and for the last time (`last`): in seconds since it became uncertain. */
export type ReconcileSchedule = { after: number, last: number }
