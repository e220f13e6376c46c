import type { PipelineDependencies } from '../../pipeline/dependencies.ts'
import type { Pipeline } from '../../pipeline/pipeline.ts'
import { recordSpooledOutcomes } from '../../pipeline/recover/late-outcomes.ts'
import { reconcile, uncertainError } from '../../pipeline/recover/reconcile.ts'
import { runDeferredAction } from '../../pipeline/run/deferred.ts'
import { firstReconcileDelay } from '../../pipeline/run/retry-policy.ts'
import type { TransactionHook } from '../../store/dispatch/lease.ts'
import { type DispatchRef, listDueDeferred, listDueReconciliations, listExpiredLeases, listOverdueDispatches,
  recoverDispatch } from '../../store/dispatch/runs.ts'
import { endLostCancellations } from '../../store/vendor/cancellations.ts'
import { sendCreditWarnings } from '../outbox/credit-warnings.ts'
import type { Queue } from './queue.ts'
import { type RepeatingTask, runEvery } from './repeat.ts'
import { createWorkSemaphore, type WorkSemaphore } from './work-semaphore.ts'

/** Milliseconds between two sweeps. */
const sweptEvery = 5_000
/** Seconds after which the job of a due dispatch counts as lost. */
const lostAfter = 30
/** The most items of a kind that one sweep takes. */
const most = 100

/** How many jobs of dispatches are fetched at a time, and their leases taken together: a third of the statements of one by one. */
const together = 8

/** `atOnce`: dispatches that are worked on at once in this process. */
type Options = { dependencies: PipelineDependencies, pipeline: Pipeline, queue: Queue, atOnce: number }

/** Works on dispatches that are queued, uncertain or left by a lost process, and on deferred steps. */
export async function startDispatchWorker ({ dependencies, pipeline, queue, atOnce }: Options): Promise<RepeatingTask> {
  const semaphore = createWorkSemaphore(atOnce)
  // The jobs end once their dispatches have begun, so that the next are fetched.
  await queue.workTogether('dispatch', async (jobs) => {
    const waiting = [...jobs]
    while (waiting.length > 0) {
      // Leases are taken for what begins at once: whoever waits for a permit stays queued, and can be cancelled.
      const permits = await semaphore.take(waiting.length)
      if (permits === 0) throw new Error('This process closes: what it has fetched and not begun comes again.')
      await beginQueued({ dependencies, pipeline, semaphore }, waiting.splice(0, permits))
    }
  }, { together: Math.min(together, Math.max(2, Math.ceil(atOnce / 2))) })
  await queue.work('look', (job) => reconcile(dependencies, job), { atOnce: Math.ceil(atOnce / 4) })
  await queue.work('deferred', (job) => runDeferredAction(dependencies, job), { atOnce: Math.ceil(atOnce / 4) })

  const sweeping = runEvery(sweptEvery, () => sweepDispatches(dependencies, queue), (error) => {
    dependencies.log.warn({ err: error }, 'the sweep failed')
  })
  return {
    first: sweeping.first,
    close () {
      semaphore.close()
      return sweeping.close()
    }
  }
}

/** Begins those of the dispatches that no other run has. Each has a permit, which its run gives back at its end, the others at once. */
async function beginQueued (
  { dependencies: { log }, pipeline, semaphore }: Pick<Options, 'dependencies' | 'pipeline'> & { semaphore: WorkSemaphore },
  dispatches: readonly DispatchRef[]
): Promise<void> {
  let begun: Awaited<ReturnType<Pipeline['beginQueued']>> = []
  try {
    begun = await pipeline.beginQueued(dispatches)
  } finally {
    semaphore.release(dispatches.length - begun.length)
  }
  for (const { dispatch, ended } of begun) {
    void ended.catch((error: unknown) => log.warn({ err: error, ...dispatch }, 'the run of a dispatch failed')).finally(() => {
      semaphore.release(1)
    })
  }
}

/** Milliseconds between two tries to record the outcomes on the disk. */
const recordedEvery = 1_000

/** Records the outcomes on the disk, of whichever process, as soon as the database takes them. */
export function startOutcomeDrain (dependencies: PipelineDependencies): RepeatingTask {
  return runEvery(recordedEvery, () => recordSpooledOutcomes(dependencies), (error) => {
    dependencies.log.debug({ err: error }, 'outcomes stay on the disk')
  })
}

/** Finds dispatches of lost processes, uncertain and deferred steps that are due, dispatches without a job, and low credits. */
export async function sweepDispatches (dependencies: PipelineDependencies, queue: Queue): Promise<void> {
  const { database, log, leases } = dependencies
  // First: a step whose outcome is on the disk is not uncertain.
  await recordSpooledOutcomes(dependencies).catch((error: unknown) => log.warn({ err: error }, 'outcomes stay on the disk'))
  for (const lost of await listExpiredLeases(database, { held: leases.heldRuns(), limit: most })) {
    // One that cannot be recovered must not block the others.
    await recover(dependencies, lost).catch((error: unknown) =>
      log.error({ err: error, ...lost }, 'a dispatch that was left behind could not be recovered')
    )
  }
  for (const stepId of await endLostCancellations(database)) log.warn({ stepId }, 'a cancellation was left behind by its process')
  const looks = await listDueReconciliations(database, most)
  await queue.send('look', looks.map((data) => ({ data, key: data.stepId })))
  const deferred = await listDueDeferred(database, most)
  await queue.send('deferred', deferred.map((data) => ({ data, key: data.stepId })))
  const stale = await listOverdueDispatches(database, { seconds: lostAfter, limit: most })
  await queue.send('dispatch', stale.map((data) => ({ data, key: data.dispatchId })))
  await sendCreditWarnings({ ...dependencies, queue })
}

async function recover ({ database, jobs, outbox, log }: PipelineDependencies, lost: DispatchRef): Promise<void> {
  const tell: TransactionHook = (queries) => outbox.enqueue(queries, lost, 'dispatch.uncertain')
  const recovered = await recoverDispatch(database, {
    ...lost,
    error: uncertainError,
    lookAfter: firstReconcileDelay,
    jobs: jobs.dispatch(lost),
    tell
  })
  if (recovered !== undefined) log.warn({ ...lost, recovered }, 'a dispatch was left behind by its process')
}
