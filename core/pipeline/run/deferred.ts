import { type Accounts, mayUse } from '@dispatch/accounts'
import { lazy } from '@dispatch/common'
import { DispatchError, dispatchStatuses, within } from '@dispatch/contract'
import type { Database } from '@dispatch/database'
import { acquireLease, holdStep, releaseLease } from '../../store/dispatch/runs.ts'
import type { Settlement } from '../../store/dispatch/steps.ts'
import type { Step } from '../step.ts'
import { handOnAfterEvent, handOnAgain } from './chain-document.ts'
import { rehydrateRecord, type Run } from './run.ts'
import { settle } from './settle.ts'
import { runStep, spanOf, type StepDependencies } from './steps.ts'

/** What a deferred step needs: it is run if the actor may still use its service. */
type DeferredDependencies = StepDependencies & { accounts: Accounts }

/**
 * Runs one step beside the path of its dispatch: a deferred step whose event has come, or the e-mail to recipients that an earlier call
 * left.
 */
export async function runDeferredAction (
  dependencies: DeferredDependencies,
  { companyId, dispatchId, stepId }: { companyId: number, dispatchId: string, stepId: string }
): Promise<void> {
  await dependencies.leases.withLease(async (lease) => {
    // The status of the dispatch does not matter. While another run has it, the job fails and comes again.
    const taken = await acquireLease(dependencies.database, { companyId, dispatchId }, { lease, from: dispatchStatuses })
    if (taken === undefined) throw new DispatchError('conflict', 'Another run has the dispatch.', { dispatchId })
    try {
      const run = await rehydrateRecord(dependencies, taken, lease.runId)
      const step = run?.deferred.find((one) => one.stepId === stepId)
      if (run === undefined || step === undefined || !['planned', 'unavailable'].includes(step.state.status)) return
      await within('dispatch', spanOf(run, [step]), () =>
        step.rest === undefined ? actAfterEvent(dependencies, run, step) : sendToRemaining(dependencies, run, step))
    } finally {
      await releaseLease(dependencies.database, { companyId, dispatchId }, lease.runId)
    }
  })
}

async function actAfterEvent (dependencies: DeferredDependencies, run: Run, step: Step): Promise<void> {
  const refused = await refusalOf(dependencies, run, step)
  if (refused === undefined) await runStep(dependencies, run, step, lazy(() => handOnAfterEvent(dependencies, run, step)))
  else await settle(dependencies, run, step, { settlement: refused, actor: { kind: 'system' } })
}

/** Sends to the remaining recipients of an accepted step, with the same content. That costs nothing. */
async function sendToRemaining (dependencies: DeferredDependencies, run: Run, step: Step): Promise<void> {
  const refused = await barredFrom(dependencies, run, step)
  if (refused === undefined) await runStep(dependencies, run, step, () => handOnAgain(dependencies, run, step))
  else await settle(dependencies, run, step, { settlement: refused, actor: { kind: 'system' } })
}

/** Why who asked for the step may not use its service any more. */
async function barredFrom ({ accounts }: { accounts: Accounts }, { actor }: Run, { service }: Step): Promise<
  Settlement | undefined
> {
  const account = await accounts.byId(actor.userId)
  if (account !== undefined && !account.disabled && mayUse(account, service)) return undefined
  return {
    outcome: 'rejected',
    error: { word: 'forbidden', message: `The user who asked for it may not use the service "${service}" any more.` }
  }
}

/** Why the step may not be run now: permission and credits are checked again. The configuration is checked by the call. */
async function refusalOf (
  dependencies: { database: Database, accounts: Accounts },
  run: Run,
  step: Step
): Promise<Settlement | undefined> {
  const barred = await barredFrom(dependencies, run, step)
  if (barred !== undefined) return barred
  try {
    const { companyId, dispatchId } = run
    await holdStep(dependencies.database, { companyId, dispatchId, stepId: step.stepId, price: step.price })
    return undefined
  } catch (error) {
    if (!(error instanceof DispatchError)) throw error
    return { outcome: 'rejected', error: { word: error.word, message: error.message } }
  }
}
