import type { Actor } from '@dispatch/accounts'
import type { JsonObject } from '@dispatch/common'
import { type BatchView, problemIn, type Version } from '@dispatch/contract'
import type { BatchToApprove } from '@dispatch/core'
import type { ResultView, RowProblem } from '../contract/batches.ts'
import type { KeptRow } from '../store/row-facts.ts'
import type { ResultRow } from '../store/rows.ts'
import type { BatchRow } from '../store/tables.ts'
import { bodyOf } from './body.ts'

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
    ...problem === null ? {} : { problem: JSON.parse(problem) as BatchView['problem'] & object },
    createdAt: batch.created_at.toISOString(),
    finishedAt: batch.ended_at?.toISOString() ?? null
  }
}

/** The same as clients of a version read it. */
export function inVersion ({ problem, ...batch }: BatchView, version: Version): BatchView {
  return { ...batch, ...problem !== undefined && { problem: problemIn(problem, version) } }
}

/** What rules of approval look at of it. */
export function batchToApprove (
  { batch_id: batchId, total: rows, credits, checked_at: checkedAt }: BatchRow,
  actor: Actor
): BatchToApprove {
  return { actor, batchId, rows, credits: Number(credits), checkedAt }
}

/** Whether nothing more of it will be sent. */
export function hasStopped ({ status }: BatchRow): boolean {
  return status === 'cancelled' || status === 'refused'
}

/** A row as whoever decides about its batch reads it. `request`: the body of its dispatch, while it is not sent and can be opened. */
export type KeptRowView = Pick<ResultView, 'row' | 'id' | 'status'> & {
  recipient?: string
  amount?: number
  currency?: string
  credits: number
  request: JsonObject | null
}

export function keptOf (
  batch: BatchRow,
  common: string | null | undefined,
  { number, row_id: id, state, facts, body }: KeptRow
): KeptRowView {
  const { recipient, amount, currency, prices = {} } = facts ?? {}
  const { row, status } = resultOf(batch, { number, row_id: id, state, dispatch_id: null, problem: null })
  return {
    row,
    ...id === null ? {} : { id },
    status,
    ...recipient !== undefined && { recipient },
    ...amount !== undefined && { amount },
    ...currency !== undefined && { currency },
    credits: Object.values(prices).reduce((sum, price) => sum + price, 0),
    request: body === null || common === undefined ? null : bodyOf(common, body) as JsonObject
  }
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
