import type { Actor } from '@dispatch/accounts'
import { changeRows, countElsewhere, listNotBegun, listUnderWay, type RowChange } from '../store/rows.ts'
import type { BatchRow } from '../store/tables.ts'
import { each } from './each.ts'
import { wordOf } from './failed-row.ts'
import type { Needs, Turn } from './needs.ts'
import { ref } from './progress.ts'
import { authorOf } from './sender.ts'

/** The most dispatches that are cancelled in one turn. */
const cancelledTogether = 200

/** Seconds after which a queued dispatch counts as kept waiting by its vendor. */
const keptAfter = 30
/** The most of those in a batch. */
const maxKept = 1_000

/** The most dispatches of a company that are under way from its batches. */
const windowOf = ({ concurrency }: Needs['config']): number => Math.max(1, Math.floor(concurrency * 3 / 4))

/** Of a batch that was cancelled: cancels what waits in the queue, such as for its time, and has not begun. */
export async function cancelWaiting ({ database, pipeline }: Pick<Needs, 'database' | 'pipeline'>, batch: BatchRow): Promise<Turn> {
  const waiting = await listNotBegun(database, ref(batch), cancelledTogether)
  if (waiting.length === 0) return 'nothing'
  const author = authorOf(batch)
  const { company_id: companyId, user_id: userId } = batch
  const actor: Actor = { userId, companyId, email: '', role: 'member', services: ['*'] }
  await each(waiting, (dispatchId) =>
    pipeline.cancel({ actor, author, dispatchId }).catch((error: unknown) => {
      // It has begun meanwhile.
      if (wordOf(error) !== 'conflict') throw error
    }))
  return 'done'
}

/** Records which dispatches have ended. Answers the batch as it is then, whether others run, and how many more may be queued. */
export async function settle (
  { config, database }: Pick<Needs, 'config' | 'database'>,
  batch: BatchRow
): Promise<{ settled: BatchRow, ended: number, runs: boolean, room: number }> {
  const all = batch.running === 0 ? [] : await listUnderWay(database, ref(batch), { limit: maxKept, seconds: keptAfter })
  const under = all.filter(({ status }) => status === 'queued' || status === 'running')
  const ended = all.flatMap(({ number, status }): RowChange[] =>
    status === 'queued' || status === 'running' ? [] : [{ number, from: 'running', to: status }]
  )
  const settled = ended.length === 0 ? batch : await changeRows(database, ref(batch), ended) ?? batch
  const present = under.filter(({ status, recent }) => status === 'running' || recent).length
  const elsewhere = await countElsewhere(database, ref(batch), keptAfter)
  const runs = under.some(({ status }) => status === 'running')
  return { settled, ended: ended.length, runs, room: all.length >= maxKept ? 0 : windowOf(config) - present - elsewhere }
}
