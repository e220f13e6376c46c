import { recordKept } from '../../pipeline/recover/late-outcomes.ts'
import { inDoubt, reconcile } from '../../pipeline/recover/reconcile.ts'
import { actOn } from '../../pipeline/run/deferred.ts'
import type { Parts } from '../../pipeline/dependencies.ts'
import { firstLook } from '../../pipeline/run/retry-policy.ts'
import type { Pipeline } from '../../pipeline/pipeline.ts'
import type { Enqueue } from '../../store/dispatch/lease.ts'
import { listDueDeferred, listDueLooks, listLost, listStale, recoverDispatch, type DispatchOf } from '../../store/dispatch/runs.ts'
import { createPlaces } from './work-semaphore.ts'
import type { Queue } from './queue.ts'
import { repeat, type Repeating } from './repeat.ts'
import { tellWarnings } from '../outbox/credit-warnings.ts'

/** Milliseconds between two sweeps. */
const sweptEvery = 5_000
/** Seconds after which a job that has not come was lost. */
const lostAfter = 30
/** How many things of a kind one sweep takes. */
const most = 100

/** Jobs that wait for a place here while all places are taken: few, as another process may have one; enough to be ready when places are free. */
const fetched = { atOnce: 8, together: 4 }

/** `atOnce`: dispatches that are worked on at once in this process. */
type Options = { parts: Parts, pipeline: Pipeline, queue: Queue, atOnce: number }

/** Works on dispatches that wait, are in doubt, were lost with their process, or have something to do at an event. */
export async function startDispatching ({ parts, pipeline, queue, atOnce }: Options): Promise<Repeating> {
  const places = createPlaces(atOnce)
  // Once a dispatch is taken, its lease tells who has it: the job has done its part, and the next ones are fetched.
  await queue.work('dispatch', (job) => places.begin((begun) => pipeline.take(job, begun).catch((error: unknown) => {
    parts.log.warn({ err: error, ...job }, 'a dispatch was given up where it stood')
    throw error
  })), fetched)
  await queue.work('look', (job) => reconcile(parts, job), { atOnce: Math.ceil(atOnce / 4) })
  await queue.work('deferred', (job) => actOn(parts, job), { atOnce: Math.ceil(atOnce / 4) })

  return repeat(sweptEvery, () => sweepOnce(parts, queue), (error) => { parts.log.warn({ err: error }, 'what is due could not be looked for') })
}

/** Finds what its process has left behind, what is due, what has lost its job, and who is to be warned. */
export async function sweepOnce (parts: Parts, queue: Queue): Promise<void> {
  const { database, log, leases } = parts
  // What came of a call is known here: it is in no doubt.
  await recordKept(parts).catch((error: unknown) => log.warn({ err: error }, 'outcomes stay on the disk'))
  for (const lost of await listLost(database, { held: leases.held(), limit: most })) {
    // One that cannot be recovered keeps nobody else from it.
    await recover(parts, lost).catch((error: unknown) => log.error({ err: error, ...lost }, 'a dispatch that was left behind could not be recovered'))
  }
  const looks = await listDueLooks(database, most)
  if (looks.length > 0) await queue.send('look', looks.map((data) => ({ data, key: data.stepId })))
  const deferred = await listDueDeferred(database, most)
  if (deferred.length > 0) await queue.send('deferred', deferred.map((data) => ({ data, key: data.stepId })))
  const stale = await listStale(database, { seconds: lostAfter, limit: most })
  if (stale.length > 0) await queue.send('dispatch', stale.map((data) => ({ data, key: data.dispatchId })))
  await tellWarnings({ ...parts, queue })
}

async function recover ({ database, jobs, notices, log }: Parts, lost: DispatchOf): Promise<void> {
  const tell: Enqueue = (queries) => notices.note(queries, lost, 'dispatch.uncertain')
  const recovered = await recoverDispatch(database, { ...lost, error: inDoubt, lookAfter: firstLook, jobs: jobs.dispatch(lost), tell })
  if (recovered !== undefined) log.warn({ ...lost, recovered }, 'a dispatch was left behind by its process')
}
