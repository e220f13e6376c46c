import type { BatchView } from '@dispatch/contract'
import type { ResultView, RowProblem } from '../contract/batches.ts'
import type { ResultRow } from '../store/rows.ts'
import type { BatchRow } from '../store/tables.ts'

/** A batch as a client reads it. Of one that was cancelled or refused, what was not sent is cancelled. */
export function viewOf (batch: BatchRow): BatchView {
  const { status, unchecked, waiting, problem } = batch
  const isOver = hasStopped(batch)
  return {
    batchId: batch.batch_id,
    status: status === 'receiving' ? 'checking' : status,
    service: batch.services.join('/'),
    mode: batch.mode,
    test: batch.test,
    counts: {
      total: batch.total,
      unchecked: isOver ? 0 : unchecked,
      waiting: isOver ? 0 : waiting,
      running: batch.running + batch.handing,
      succeeded: batch.succeeded,
      failed: batch.failed,
      partial: batch.partial,
      uncertain: batch.uncertain,
      cancelled: batch.cancelled + (isOver ? unchecked + waiting : 0),
      refused: batch.refused
    },
    credits: batch.unchecked > 0 || status === 'checking' ? null : Number(batch.credits),
    ...problem === null ? {} : { problem: JSON.parse(problem) as { error: string, message: string } },
    createdAt: batch.created_at.toISOString(),
    finishedAt: batch.ended_at?.toISOString() ?? null
  }
}

/** Whether nothing more of it will be sent. */
export function hasStopped ({ status }: BatchRow): boolean {
  return status === 'cancelled' || status === 'refused'
}

/** A row in the results of its batch. */
export function resultOf (batch: BatchRow, { number, row_id: id, state, dispatch_id: dispatchId, problem }: ResultRow): ResultView {
  const present = state === 'handing' ? 'running' : state
  return {
    row: number,
    ...id === null ? {} : { id },
    status: hasStopped(batch) && (present === 'waiting' || present === 'unchecked') ? 'cancelled' : present,
    ...dispatchId === null ? {} : { dispatchId },
    ...problem === null ? {} : { problem: JSON.parse(problem) as RowProblem }
  }
}
