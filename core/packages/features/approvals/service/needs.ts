import type { Accounts, Actor, AuditAuthor } from '@dispatch/accounts'
import type { Outbox, Pipeline } from '@dispatch/core'
import type { Database } from '@dispatch/database'
import type { Batches } from '../../batches/service/batches.ts'

/** Who decides, and what the audit log notes of them. */
export type Decider = { actor: Actor, author: AuditAuthor }

/** What approvals use of the service. */
export type Needs = {
  accounts: Accounts
  database: Database
  pipeline: Pick<Pipeline, 'review' | 'seen' | 'dispatch' | 'rulesForBatch'>
  batches: Pick<Batches, 'resumeApproved' | 'find' | 'end' | 'toApprove' | 'kept'>
  outbox: Pick<Outbox, 'tell'>
  now: () => Date
  /** Where the pages are; undefined where there is no console. */
  pages: string | undefined
}
