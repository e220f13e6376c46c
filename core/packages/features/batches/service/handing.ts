import { DispatchError } from '@dispatch/contract'
import { ApprovalRequired, type ApprovalRuleRef } from '@dispatch/core'
import { changeRows, dispatchOf, nextRows, openRows, type OpenWork, type RowChange } from '../store/rows.ts'
import type { BatchRow } from '../store/tables.ts'
import { rulesOf, waits } from './approval.ts'
import { each } from './each.ts'
import { failedRow, wordOf } from './failed-row.ts'
import type { Needs, Turn } from './needs.ts'
import { advance, endClosed, pause, ref } from './progress.ts'
import { authorOf, commandOf, keyOf, rowOf, type RowsOfTurn, senderOf } from './sender.ts'

/** The most rows that are looked for in one turn after a lost process. */
const lookedForTogether = 256

/** `unapproved`: takes the row where somebody else has to approve it, with the rules that want it. */
type Handing = RowsOfTurn & { unapproved: Map<number, readonly ApprovalRuleRef[]> }

/** Hands one row to the queue, or retries its dispatch. What is short of credits pauses the batch. */
async function hand (needs: Needs, { unapproved, ...ofTurn }: Handing, row: OpenWork): Promise<RowChange> {
  const { pipeline } = needs
  const { batch, actor } = ofTurn
  const { number } = row
  const handed = { number, from: 'handing' as const, to: 'running' as const, forget: true as const }
  try {
    if (row.dispatch_id === null) {
      const { result } = await pipeline.dispatch({
        ...commandOf(ofTurn, row),
        idempotencyKey: keyOf(batch, row),
        batchId: batch.batch_id
      })
      return { ...handed, dispatchId: result.dispatchId }
    }
    // Where another run has it, or nothing of it has failed any more, its own end counts.
    const retried = { dispatchId: row.dispatch_id, mode: 'asynchronous' as const, batch: rowOf(batch) }
    await pipeline.retry({ actor, author: authorOf(batch), ...retried }).catch((error: unknown) => {
      if (wordOf(error) !== 'conflict') throw error
    })
    return handed
  } catch (error) {
    // Nothing of what was held for others is given back: the batch waits for credits.
    const word = wordOf(error)
    if (error instanceof DispatchError && (word === 'insufficient_credits' || word === 'budget_exceeded')) {
      await pause(needs, batch, word, error.message, error.reason)
      return { number, from: 'handing', to: 'waiting' }
    }
    const change = failedRow(needs, batch, row, error, 'handing')
    const failed = change.to === 'refused' && row.dispatch_id !== null ? { ...change, to: 'failed' as const } : change
    if (word === 'approval_required') unapproved.set(number, error instanceof ApprovalRequired ? rulesOf(error) : [])
    return failed
  }
}

/** Hands so many rows to the queue. */
export async function feed (needs: Needs, batch: BatchRow, room: number): Promise<Turn> {
  const { database } = needs
  if (room < 1) return 'nothing'
  const left = await nextRows(database, ref(batch), 'handing', room)
  const waiting = left.length > 0 ? left : await nextRows(database, ref(batch), 'waiting', room)
  if (waiting.length === 0) return 'nothing'
  const actor = await senderOf(needs, batch)
  if (actor === undefined) return 'done'
  const opened = await openRows(database, ref(batch), waiting)
  if (opened === undefined) return endClosed(needs, batch)
  if (left.length === 0) {
    await changeRows(database, ref(batch), waiting.map(({ number }) => ({ number, from: 'waiting', to: 'handing' })))
  }
  if (batch.status === 'queued' && await advance(needs, batch, { from: ['queued'], status: 'running' }) === undefined) return 'done'
  const unapproved = new Map<number, readonly ApprovalRuleRef[]>()
  const handing = { batch, actor, common: opened.common, asOf: await database.time(), unapproved }
  const handed = await each(opened.rows, (row) => hand(needs, handing, row))
  // Asked once all of them are back: whoever approves at once lets all of them go on.
  const asking = new Map([...unapproved.values()].flat().map((rule) => [rule.id, rule]))
  const asks = unapproved.size > 0 && await waits(needs, batch, actor, { from: ['queued', 'running'] }, [...asking.values()])
  const changes = handed.map((change): RowChange =>
    asks && unapproved.has(change.number) ? { number: change.number, from: 'handing', to: 'waiting' } : change
  )
  await changeRows(database, ref(batch), changes)
  return changes.some(({ to }) => to === 'waiting') ? 'held' : 'done'
}

/** Of a batch that does not go on: whether rows that a lost process was handing over have a dispatch. */
export async function takeBack ({ database }: Pick<Needs, 'database'>, batch: BatchRow): Promise<Turn> {
  const rows = await nextRows(database, ref(batch), 'handing', lookedForTogether)
  if (rows.length === 0) return 'nothing'
  const changes = await each(rows, async (row): Promise<RowChange> => {
    const dispatchId = row.dispatch_id ?? await dispatchOf(database, batch.company_id, keyOf(batch, row))
    const sent = dispatchId === undefined ? { to: 'waiting' as const } : { to: 'running' as const, dispatchId, forget: true as const }
    return { number: row.number, from: 'handing', ...sent }
  })
  await changeRows(database, ref(batch), changes)
  return 'done'
}
