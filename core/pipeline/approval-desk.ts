import type { Actor } from '@dispatch/accounts'
import type { WaitingView } from '@dispatch/contract'
import type { CompanyQueries } from '@dispatch/database'
import type { ServiceName } from '@dispatch/services'
import type { DispatchCommand } from './command.ts'

/** What the rules of a company look at. `amount`: the largest in its documents; `unknown`: a document about money does not say how much. */
export type ApprovalSubject = {
  actor: Actor
  services: readonly ServiceName[]
  credits: number
  recipients: number
  amount?: { value: number, currency?: string } | 'unknown'
  recipient?: string
  /** The rows of the batch that it belongs to; then the credits are those of the batch. */
  rows?: number
}

/** A rule by which somebody else has to approve. */
export type ApprovalRuleRef = { id: string, name: string }

/** A request that waits for its approval. `key`: its idempotency key, with a hash of what that is bound to. */
export type KeptRequest = {
  command: DispatchCommand
  requested: ApprovalSubject
  rules: readonly ApprovalRuleRef[]
  key?: { key: string, fingerprint: string }
}

/** What the rules look at of rows of a batch: of several rows, the most that one of them has. */
export type RowsToApprove = Pick<ApprovalSubject, 'services' | 'recipients' | 'amount'>

/** What a batch comes to: how many of its rows each service gets, for how many credits, and the amounts of its documents. */
export type BatchTotals = {
  services: { service: string, rows: number, credits: number }[]
  /** `unknown`: documents about money that do not say how much. */
  amounts: { currency: string | null, rows: number, amount: number, unknown: number }[]
}

/** A batch, of which whoever decides about it is asked. `checkedAt`: when all its rows were checked; null while some are not. */
export type BatchToApprove = { actor: Actor, batchId: string, rows: number, credits: number, checkedAt: Date | null }

/** A batch whose rows wait for an approval. */
export type PendingBatch = BatchToApprove & {
  services: readonly ServiceName[]
  requestId: string
  /** What its rows come to, as they are when it is kept. */
  totals: () => Promise<BatchTotals>
  /** Pauses it in the transaction that keeps it; false where it does not go on any more: then it is not kept. */
  pause: (queries: CompanyQueries) => Promise<boolean>
}

/** The rules of a company by which a second person has to approve. A feature brings it. */
export type ApprovalDesk = {
  /**
   * The rules by which somebody else has to approve one of what is asked; none where it may be sent at once. `requested` is found where the
   * company has any.
   */
  rulesFor: (
    about: Pick<ApprovalSubject, 'actor' | 'rows'>,
    requested: () => Promise<readonly ApprovalSubject[]>
  ) => Promise<readonly ApprovalRuleRef[]>
  /**
   * The request that waits under an idempotency key. Throws `approval_required` where it was refused, and `idempotency_key_reused` for
   * another request.
   */
  waitingUnder: (companyId: number, key: { key: string, fingerprint: string }) => Promise<WaitingView | undefined>
  /** Keeps a request until somebody decides. Throws `rate_limited` where too many of the company wait. */
  keep: (kept: KeptRequest) => Promise<WaitingView>
  /** The same for a batch, which it pauses. */
  keepBatch: (kept: PendingBatch & { rules: readonly ApprovalRuleRef[] }) => Promise<void>
  /** The rules by which it was approved: a batch after `since`, the last change of what its rows are made of. */
  approvedBy: (companyId: number, of: { batchId: string, since?: Date } | { dispatchId: string }) => Promise<readonly string[]>
  /** When a request that is kept now expires. */
  waitsUntil: () => Date
}
