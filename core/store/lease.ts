import type { OwnerQueries } from './database.ts'

/** Whoever has it works on a dispatch, alone, until that moment. */
export type Lease = { runId: string, until: Date }

/** Adds the job of what a transaction records. */
export type Enqueue = (queries: OwnerQueries) => Promise<void>

/** How a dispatch begins or goes on: at once, under the lease of a run, or when its job is taken from the queue. */
export type Beginning = { lease: Lease } | { enqueue: Enqueue }
