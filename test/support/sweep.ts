import type { Pipeline } from '@dispatch/core'
import type { Queue } from '../../core/packages/queue/queue.ts'
import { reconcile } from '../../core/pipeline/recover/reconcile.ts'
import { runDeferredAction } from '../../core/pipeline/run/deferred.ts'
import type { RunnerDependencies } from '../../core/pipeline/run/runner.ts'
import { sweepDispatches } from '../../core/work/dispatch-worker.ts'
import { runQueued } from './run-queued.ts'

/** Sweeps, and does at once what the sweep would queue. `sweeping`: other dependencies for the sweep alone. */
export async function sweepAndWork (
  pipeline: Pick<Pipeline, 'beginQueued'>,
  dependencies: RunnerDependencies,
  sweeping = dependencies
): Promise<void> {
  const jobs: (() => Promise<void>)[] = []
  const handlers: Record<string, (data: any) => Promise<void>> = {
    look: (data) => reconcile(dependencies, data),
    deferred: (data) => runDeferredAction(dependencies, data),
    dispatch: (data) => runQueued(pipeline, data)
  }
  const queue = {
    send: (name: string, added: readonly { data: unknown }[]) => {
      jobs.push(...added.map(({ data }) => async () => handlers[name]?.(data)))
      return Promise.resolve()
    }
  } as Pick<Queue, 'send'> as Queue
  await sweepDispatches(sweeping, queue)
  for (const job of jobs) await job()
}
