import type { Log } from '@dispatch/common'
import type { Database } from '@dispatch/database'
import { type BegunJob, type Queue, type RepeatingTask, runEvery } from '@dispatch/queue'
import type { PipelineJobs } from '../pipeline/jobs.ts'
import type { Outbox } from '../pipeline/outbox.ts'
import type { Pipeline } from '../pipeline/pipeline.ts'
import { reconcile, uncertainError } from '../pipeline/recover/reconcile.ts'
import { followSaying } from '../pipeline/recover/sayings.ts'
import { runDeferredAction } from '../pipeline/run/deferred.ts'
import { type OutcomeDependencies, recordSpooledOutcomes } from '../pipeline/run/late-outcomes.ts'
import { firstReconcileDelay } from '../pipeline/run/retry-policy.ts'
import type { RunnerDependencies } from '../pipeline/run/runner.ts'
import type { TransactionHook } from '../store/dispatch/lease.ts'
import { type DispatchRef, listDueDeferred, listDueReconciliations, listExpiredLeases, listOverdueDispatches,
  recoverDispatch } from '../store/dispatch/runs.ts'
import { endLostCancellations } from '../store/vendor/cancellations.ts'

/** Milliseconds between two sweeps. */
const sweptEvery = 5_000
/** Seconds after which the job of a due dispatch counts as lost. */
const lostAfter = 30
/** The most items of a kind that one sweep takes. */
const max = 100

/** `atOnce`: dispatches that are worked on at once in this process, besides those whose vendor keeps them waiting. */
type Options = { dependencies: RunnerDependencies, pipeline: Pipeline, queue: Queue, atOnce: number }

/** Works on dispatches that are queued, uncertain or left by a lost process, and on deferred steps. */
export async function startDispatchWorker ({ dependencies, pipeline, queue, atOnce }: Options): Promise<RepeatingTask> {
  // Leases are taken for what begins at once: whoever waits for a permit stays queued, and can be cancelled.
  await queue.begin('dispatch', (jobs) => beginQueued({ dependencies, pipeline }, jobs), atOnce)
  await queue.work('look', (job) => reconcile(dependencies, job), Math.ceil(atOnce / 4))
  await queue.work('deferred', (job) => runDeferredAction(dependencies, job), Math.ceil(atOnce / 4))
  await queue.work('saying', (job) => followSaying(dependencies, job), 1)

  return runEvery(sweptEvery, () => sweepDispatches(dependencies, queue), (error) => {
    dependencies.log.warn({ err: error }, 'the sweep failed')
  })
}

/**
 * Begins those of the dispatches that no other run has. A run gives its permit back at its end, and leaves its place before where a vendor
 * keeps it waiting; the others give theirs back at once.
 */
async function beginQueued (
  { dependencies: { log }, pipeline }: Pick<Options, 'dependencies' | 'pipeline'>,
  jobs: readonly BegunJob<DispatchRef>[]
): Promise<void> {
  let left = jobs
  try {
    const begun = await pipeline.beginQueued(jobs.map((job) => ({ ...job.data, keptWaiting: job.permit.park, job })))
    for (const { queued, ended } of begun) {
      const { companyId, dispatchId, job } = queued
      left = left.filter((one) => one !== job)
      const whose = { companyId, dispatchId }
      void ended.catch((error: unknown) => log.warn({ err: error, ...whose }, 'the run of a dispatch failed')).finally(() => {
        job.permit.release()
      })
    }
  } finally {
    for (const { permit } of left) permit.release()
  }
}

/** Milliseconds between two tries to record the outcomes on the disk. */
const recordedEvery = 1_000

/** Records the outcomes on the disk, of whichever process, as soon as the database takes them. */
export function startOutcomeDrain (dependencies: OutcomeDependencies): RepeatingTask {
  return runEvery(recordedEvery, () => recordSpooledOutcomes(dependencies), (error) => {
    dependencies.log.debug({ err: error }, 'outcomes stay on the disk')
  })
}

/** Finds dispatches of lost processes, uncertain and deferred steps that are due, and dispatches without a job. */
export async function sweepDispatches (dependencies: OutcomeDependencies, queue: Queue): Promise<void> {
  const { database, log, leases } = dependencies
  // First: a step whose outcome is on the disk is not uncertain.
  await recordSpooledOutcomes(dependencies).catch((error: unknown) => log.warn({ err: error }, 'outcomes stay on the disk'))
  for (const lost of await listExpiredLeases(database, { held: leases.heldRuns(), limit: max })) {
    // One that cannot be recovered must not block the others.
    await recover(dependencies, lost).catch((error: unknown) =>
      log.error({ err: error, ...lost }, 'a dispatch that was left behind could not be recovered')
    )
  }
  for (const stepId of await endLostCancellations(database)) log.warn({ stepId }, 'a cancellation was left behind by its process')
  const dueReconciliations = await listDueReconciliations(database, max)
  await queue.send('look', dueReconciliations.map((data) => ({ data, key: data.stepId })))
  const deferred = await listDueDeferred(database, max)
  await queue.send('deferred', deferred.map((data) => ({ data, key: data.stepId })))
  const stale = await listOverdueDispatches(database, { seconds: lostAfter, limit: max })
  await queue.send('dispatch', stale.map((data) => ({ data, key: data.dispatchId })))
}

async function recover (
  { database, jobs, outbox, log }: { database: Database, jobs: PipelineJobs, outbox: Outbox, log: Log },
  lost: DispatchRef
): Promise<void> {
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
