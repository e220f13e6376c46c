import { runEvery } from '@dispatch/queue'
import { forgetBatches, letGo } from '../store/batches.ts'
import { claimBatch, releaseBatch } from '../store/rows.ts'
import type { BatchRow } from '../store/tables.ts'
import { check } from './checking.ts'
import { feed, takeBack } from './handing.ts'
import type { Needs, Turn } from './needs.ts'
import { close, ref, tell } from './progress.ts'
import { cancelWaiting, settle } from './settling.ts'

/** Seconds for which a process has a batch to itself. */
const claimLasts = 15
/** Milliseconds between two looks for a batch where there is none, and for which one rests that waits for its dispatches. */
const [idle, shortest, longest] = [1_000, 20, 500]
/** Seconds for which a batch rests where something was not ready or nothing of it goes on. */
const holdFor = 5
/** Milliseconds between two looks for batches to forget. */
const forgetEvery = 3_600_000

/**
 * Checks and sends the rows of batches, a few at a time: so many of a company are in the queue as leave a quarter of the places of this
 * process to what the company asks for by itself. A row is handed to the queue under an idempotency key of its own: whenever a process
 * ends, another one goes on, and sends nothing again.
 */
export function workOnBatches (needs: Needs): AsyncDisposable {
  const { config, database, log, newId } = needs

  /** `pauses`: milliseconds for which a batch rests that waits for its dispatches. */
  async function turn (pauses: number): Promise<Turn | 'none'> {
    const claim = newId()
    const batch = await claimBatch(database, claim, claimLasts)
    if (batch === undefined) return 'none'
    let came: Turn = 'held'
    try {
      came = await workOn(needs, batch)
    } finally {
      await releaseBatch(database, batch, claim, { done: 0, nothing: pauses / 1_000, held: holdFor }[came])
    }
    return came
  }

  const closing = Promise.withResolvers<undefined>()
  let isClosing = false

  async function run (): Promise<void> {
    let [pauses, last]: [number, Turn | 'none'] = [shortest, 'none']
    while (!isClosing) {
      const came = await turn(pauses).catch((err: unknown) => {
        log.warn({ err }, 'a batch could not be worked on')
        return 'none' as const
      })
      if (came === 'done') pauses = shortest
      if (came === 'nothing') pauses = Math.min(longest, 2 * pauses)
      // Batches rest one by one: as long as there is another one, it is not kept waiting.
      if (came === 'none') await rest(last === 'nothing' ? pauses : idle)
      last = came
    }
  }

  async function rest (milliseconds: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<undefined>()
    const timer = setTimeout(() => {
      resolve(undefined)
    }, milliseconds)
    await Promise.race([promise, closing.promise])
    clearTimeout(timer)
  }

  const forgetting = runEvery(forgetEvery, () => forgetBatches(database, config.retentionDays), (err) => {
    log.warn({ err }, 'old batches could not be forgotten')
  })
  const running = run()
  return {
    async [Symbol.asyncDispose] () {
      isClosing = true
      closing.resolve(undefined)
      await Promise.all([running, forgetting.close()])
    }
  }
}

/** One turn of a batch, in the state that it is in. */
async function workOn (needs: Needs, batch: BatchRow): Promise<Turn> {
  if (batch.status === 'checking') return check(needs, batch)
  const { settled, ended, runs, room } = await settle(needs, batch)
  if (batch.status === 'queued' || batch.status === 'running') {
    if (ended > 0 || settled.waiting + settled.handing + settled.running === 0) await tell(needs, settled)
    const fed = await feed(needs, settled, room)
    return fed === 'nothing' && ended > 0 ? 'done' : fed
  }
  const taken = await takeBack(needs, settled)
  const stopped = taken === 'nothing' && batch.status === 'cancelled' && settled.running > 0 ? await cancelWaiting(needs, settled) : taken
  if (stopped === 'nothing' && settled.running === 0) await close(needs, settled)
  else if (stopped === 'nothing' && batch.status === 'cancelled') await letGo(needs.database, ref(batch), jobOf(needs, batch))
  if (ended > 0) return 'done'
  return stopped === 'nothing' && !runs ? 'held' : stopped
}

/** The job of a dispatch that is taken out of its batch. */
const jobOf = ({ jobs }: Pick<Needs, 'jobs'>, { company_id: companyId }: BatchRow) => (dispatchId: string) =>
  jobs.batched({ companyId, dispatchId })
