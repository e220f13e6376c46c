import type { Accounts } from '@dispatch/accounts'
import type { Log } from '@dispatch/common'
import type { Outbox, Pipeline, PipelineJobs } from '@dispatch/core'
import type { Database } from '@dispatch/database'

/** The dependencies of the work on batches. */
export type Needs = {
  accounts: Accounts
  config: { concurrency: number, retentionDays: number }
  database: Database
  jobs: Pick<PipelineJobs, 'batched'>
  log: Log
  newId: () => string
  outbox: Outbox
  pipeline: Pick<Pipeline, 'checkRow' | 'dispatch' | 'retry' | 'cancel' | 'askForBatch'>
}

/** What came of a turn: something was done, nothing could be, or nothing can be for a while. */
export type Turn = 'done' | 'nothing' | 'held'
