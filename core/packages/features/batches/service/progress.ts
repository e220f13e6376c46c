import type { JsonObject } from '@dispatch/common'
import type { CallbackType, ErrorReason } from '@dispatch/contract'
import { advanceBatch, type Progress } from '../store/rows.ts'
import type { BatchRow } from '../store/tables.ts'
import type { Needs, Turn } from './needs.ts'
import { hasStopped, inVersion, viewOf } from './view.ts'

/** What names the batch. */
export const ref = ({ company_id: companyId, batch_id: batchId }: BatchRow) => ({ companyId, batchId })

/** Lets the batch go on, and tells of it. */
export async function advance (
  { database, outbox }: Pick<Needs, 'database' | 'outbox'>,
  batch: BatchRow,
  progress: Progress,
  type?: CallbackType
): Promise<BatchRow | undefined> {
  return advanceBatch(database, ref(batch), progress, async (queries, advanced) => {
    if (type === undefined) return
    const url = advanced.callback_url
    const data: JsonObject = inVersion(viewOf(advanced), advanced.api_version)
    await outbox.tell(queries, advanced.company_id, { type, data, ...url === null ? {} : { url } })
  })
}

/** A problem as the row of a batch has it. */
export const problem = (error: string, message: string, reason?: ErrorReason): string => JSON.stringify({ error, message, reason })

/** Nothing more of it is sent until somebody resumes it. */
export const pause = (
  needs: Pick<Needs, 'database' | 'outbox'>,
  batch: BatchRow,
  ...why: Parameters<typeof problem>
): Promise<BatchRow | undefined> =>
  advance(needs, batch, { from: ['checking', 'queued', 'running'], status: 'paused', problem: problem(...why) })

/** Nobody can open its rows any more: what of it is not sent never will be. */
export async function endClosed (needs: Pick<Needs, 'database' | 'outbox'>, batch: BatchRow): Promise<Turn> {
  const why =
    'Its rows were sealed under a data key that is lost, so that nothing more of it can be sent: send them again as another batch.'
  await advance(needs, batch, {
    from: ['checking', 'queued', 'running'],
    status: 'refused',
    problem: problem('internal_error', why),
    ended: true
  }, 'batch.refused')
  return 'done'
}

/** Tells of another tenth, and of the end. */
export async function tell (needs: Pick<Needs, 'database' | 'outbox'>, batch: BatchRow): Promise<void> {
  const left = batch.unchecked + batch.waiting + batch.handing + batch.running
  if (left === 0) {
    await advance(needs, batch, { from: ['running', 'queued'], status: 'finished', ended: true, closed: true, reported: 10 },
      'batch.finished')
  }
  const tenth = Math.floor(10 * (batch.total - left) / batch.total)
  if (left > 0 && tenth > batch.told) await advance(needs, batch, { from: ['running'], reported: tenth }, 'batch.progress')
}

/** Nothing is to be done for a batch that has stopped; whoever has cancelled it is told when its last dispatch has ended. */
export async function close (needs: Pick<Needs, 'database' | 'outbox'>, batch: BatchRow): Promise<void> {
  const type = batch.status === 'cancelled' && batch.told < 10 ? 'batch.cancelled' : undefined
  await advance(needs, batch, {
    from: ['paused', 'cancelled', 'refused', 'finished'],
    closed: true,
    ...hasStopped(batch) ? { reported: 10 } : {}
  }, type)
}
