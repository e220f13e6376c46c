import type { Actor } from '@dispatch/accounts'
import { changeRows, freeCredits, nextRows, openRows, type RowChange } from '../store/rows.ts'
import type { BatchRow } from '../store/tables.ts'
import { waits } from './approval.ts'
import { each } from './each.ts'
import { failedRow } from './failed-row.ts'
import type { Needs, Turn } from './needs.ts'
import { advance, endClosed, problem, ref } from './progress.ts'
import { factsOf } from './row.ts'
import { commandOf, senderOf } from './sender.ts'

/** The most rows that are checked in one turn. */
const checkedTogether = 256
/** Milliseconds in which a turn begins to check rows: short enough that its claim lasts, and that a cancellation is soon heeded. */
const checkFor = 1_000

/** Checks some rows; once all were, decides whether they are sent. */
export async function check (needs: Needs, batch: BatchRow): Promise<Turn> {
  const { database, pipeline } = needs
  const actor = await senderOf(needs, batch)
  if (actor === undefined) return 'done'
  const rows = await nextRows(database, ref(batch), 'unchecked', checkedTogether)
  if (rows.length === 0) return conclude(needs, batch, actor)
  const opened = await openRows(database, ref(batch), rows)
  if (opened === undefined) return endClosed(needs, batch)
  const { common } = opened
  const ofTurn = { batch, actor, common, asOf: await database.time() }
  const until = performance.now() + checkFor
  const checked = await each(opened.rows, async (row): Promise<RowChange | undefined> => {
    if (performance.now() > until) return undefined
    try {
      const checked = await pipeline.checkRow(commandOf(ofTurn, row))
      const facts = factsOf(checked)
      const credits = Object.values(facts.prices).reduce((sum, price) => sum + price, 0)
      return { number: row.number, from: 'unchecked', to: 'waiting', credits: batch.test ? 0 : credits, facts }
    } catch (error) {
      return failedRow(needs, batch, row, error, 'unchecked')
    }
  })
  // What was not begun is for the next turn.
  const changes = checked.filter((change) => change !== undefined)
  await changeRows(database, ref(batch), changes)
  return changes.some(({ to }) => to === 'unchecked') ? 'held' : 'done'
}

/** All rows were checked: whether they are sent. */
async function conclude (needs: Pick<Needs, 'database' | 'outbox' | 'pipeline'>, batch: BatchRow, actor: Actor): Promise<Turn> {
  const { total, refused, waiting, mode } = batch
  const refuse = (word: string, message: string): Promise<unknown> =>
    advance(needs, batch, { from: ['checking'], status: 'refused', problem: problem(word, message), checked: true, ended: true },
      'batch.refused')
  const free = await freeCredits(needs.database, batch.company_id)
  const credits = Number(batch.credits)
  // Some of it was sent before: it was not refused as a whole, and those are checked again that were refused.
  const isAgain = waiting + refused < total
  const held = batch.held && !isAgain
  if (!isAgain && (waiting === 0 || (refused > 0 && mode === 'all'))) {
    await refuse('validation_failed', `${refused} of ${total} rows have faults, and nothing is sent: the results tell which.`)
  } else if (!isAgain && credits > 0 && credits > free) {
    await refuse('insufficient_credits', `The batch costs ${credits} credits; ${free} are free.`)
  } else if (held || !await waits(needs, batch, actor, { from: ['checking'], checked: true })) {
    await advance(needs, batch, { from: ['checking'], status: held ? 'paused' : 'queued', checked: true })
  }
  return 'done'
}
