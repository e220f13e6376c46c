import { mayUse } from '../../access/permissions.ts'
import { DispatchError } from '../../contract/errors.ts'
import { dispatchStatuses } from '../../contract/states.ts'
import { acquireLease, holdStep, releaseLease } from '../../store/dispatch/runs.ts'
import type { Settlement } from '../../store/dispatch/steps.ts'
import type { PipelineDependencies } from '../dependencies.ts'
import type { Step } from '../step.ts'
import { handOnAfterEvent, handOnAgain } from './chain-document.ts'
import { rehydrateRecord, type Run } from './run.ts'
import { settle } from './settle.ts'
import { runStep } from './steps.ts'

/**
 * Does a step beside the path of its dispatch, once: what a step left, or one whose event has come, with the signed document
 * or that of the dispatch.
 */
export async function runDeferredAction (
  dependencies: PipelineDependencies,
  { companyId, dispatchId, stepId }: { companyId: number, dispatchId: string, stepId: string }
): Promise<void> {
  await dependencies.leases.withLease(async (lease) => {
    // Whatever became of the dispatch otherwise: it has no part in it. One that is being worked on is left to its next job.
    const taken = await acquireLease(dependencies.database, { companyId, dispatchId }, { lease, from: dispatchStatuses })
    if (taken === undefined) throw new DispatchError('conflict', 'Another run has the dispatch.', { dispatchId })
    try {
      const run = await rehydrateRecord(dependencies, taken, lease.runId)
      const step = run?.deferred.find((one) => one.stepId === stepId)
      if (run === undefined || step === undefined || !['planned', 'unavailable'].includes(step.state.status)) return
      await (step.rest === undefined ? actAfterEvent(dependencies, run, step) : sendToRemaining(dependencies, run, step))
    } finally {
      await releaseLease(dependencies.database, { companyId, dispatchId }, lease.runId)
    }
  })
}

async function actAfterEvent (dependencies: PipelineDependencies, run: Run, step: Step): Promise<void> {
  const refused = await refusalOf(dependencies, run, step)
  if (refused === undefined) await runStep(dependencies, run, step, once(() => handOnAfterEvent(dependencies, run, step)))
  else await settle(dependencies, run, step, refused, { kind: 'system' })
}

/** Goes on with what an accepted step left: with what it was called with. */
async function sendToRemaining (dependencies: PipelineDependencies, run: Run, step: Step): Promise<void> {
  await runStep(dependencies, run, step, () => handOnAgain(dependencies, run, step))
}

/** What a step asks for twice is fetched once. */
function once<T> (fetch: () => Promise<T>): () => Promise<T> {
  let fetched: Promise<T> | undefined
  return () => fetched ??= fetch()
}

/** Permission and credits are checked again when it is done; its configuration when it is called. */
async function refusalOf (
  { accounts, database }: PipelineDependencies,
  { companyId, dispatchId, actor }: Run,
  { service, stepId, price }: Step
): Promise<Settlement | undefined> {
  const account = await accounts.byId(actor.userId)
  if (account === undefined || account.disabled || !mayUse(account, service)) {
    return {
      outcome: 'rejected',
      error: { word: 'forbidden', message: `The user who asked for it may not use the service "${service}" any more.` }
    }
  }
  try {
    await holdStep(database, { companyId, dispatchId, stepId, price })
    return undefined
  } catch (error) {
    if (!(error instanceof DispatchError)) throw error
    return { outcome: 'rejected', error: { word: error.word, message: error.message } }
  }
}
