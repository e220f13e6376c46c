import { DispatchError, type DispatchStatus, within } from '@dispatch/contract'
import { type CallContext, callLookup, missCountsAfter, usualTimeLimit } from '@dispatch/host'
import type { StepError } from '@dispatch/tables'
import { type SecondsUncertain, secondsUncertain } from '../../store/dispatch/dispatch-views.ts'
import type { TransactionHook } from '../../store/dispatch/lease.ts'
import { acquireLease, postponeReconciliation, releaseLease } from '../../store/dispatch/runs.ts'
import { type Settlement, settleStep } from '../../store/dispatch/steps.ts'
import { recipientFacts } from '../respond/merged-response.ts'
import { type ReconciledOutcome, reconciliationFollowUpOf } from '../run/after-reconciliation.ts'
import { contextOf } from '../run/call.ts'
import { type OutcomeDependencies, recordLateOutcome } from '../run/late-outcomes.ts'
import { reconcileScheduleOf } from '../run/retry-policy.ts'
import { rehydrateRecord, type Run } from '../run/run.ts'
import { observeOutcome, type SettleDependencies } from '../run/settle.ts'
import { repeatCall, type StepDependencies } from '../run/steps.ts'
import { type CallableStep, isCallable, isOffPath, type Step } from '../step.ts'

/**
 * What was learnt about an uncertain step. `attempt`: the number of the repeated call, where one told it. `later`: nothing was learnt, and
 * it is worth asking again so many seconds after the step became uncertain.
 */
type Learnt = (ReconciledOutcome & { attempt?: number }) | { later?: number }

/** Finds the outcome of an uncertain step, and lets its dispatch go on from there. Asks nobody while the outcome waits on the disk. */
export async function reconcile (
  dependencies: StepDependencies,
  { companyId, dispatchId, stepId }: { companyId: number, dispatchId: string, stepId: string }
): Promise<void> {
  if (await dependencies.outcomes.has(stepId)) return
  await dependencies.leases.withLease(async (lease) => {
    const taken = await acquireLease(dependencies.database, { companyId, dispatchId }, { lease, from: settledStates })
    if (taken === undefined) return
    const run = await rehydrateRecord(dependencies, taken, lease.runId)
    const step = run && [...run.steps, ...run.deferred].find((one) => one.stepId === stepId)
    if (run === undefined || step?.state.status !== 'uncertain') {
      return releaseLease(dependencies.database, { companyId, dispatchId }, lease.runId)
    }
    const { traceparent } = run
    const facts = {
      service: step.service,
      provider: step.by?.code ?? 'none',
      dispatchId,
      ...(traceparent === undefined ? {} : { traceparent })
    }
    await within('reconciliation', facts, () => reconcileStep(dependencies, run, step, taken.status))
  })
}

async function reconcileStep (dependencies: StepDependencies, run: Run, step: Step, from: DispatchStatus): Promise<void> {
  const { companyId, dispatchId } = run
  const since = await secondsUncertain(dependencies.database, { companyId, stepId: step.stepId })
  const learnt = await learn(dependencies, run, step, since).catch((error: unknown): Learnt => {
    dependencies.log.warn({ err: error, companyId, dispatchId }, 'an uncertain step could not be reconciled')
    return {}
  })
  await conclude(dependencies, run, step, { learnt, doubted: since.doubted, from })
}

/** Statuses of a dispatch that may have an uncertain step. A deferred step may be uncertain in each of them. */
const settledStates: readonly DispatchStatus[] = ['succeeded', 'failed', 'partial', 'uncertain', 'cancelled']

async function conclude (
  dependencies: OutcomeDependencies,
  run: Run,
  step: Step,
  { learnt, ...circumstances }: { learnt: Learnt, doubted: number, from: DispatchStatus }
): Promise<void> {
  const { companyId, dispatchId, runId } = run
  const { stepId } = step
  if (!('settlement' in learnt) || learnt.settlement.outcome === 'uncertain') {
    const { after, last } = reconcileScheduleOf(step, step.state.looks + 1)
    const reconciliation = { after: 'later' in learnt ? Math.min(after, learnt.later ?? after) : after, last }
    return postponeReconciliation(dependencies.database, { companyId, dispatchId, stepId, runId, error: uncertainError, reconciliation })
  }
  const { settlement } = learnt
  const actor = { kind: 'system' } as const
  const following = reconciliationFollowUpOf(dependencies, run, step, { ...learnt, ...circumstances })
  try {
    await settleStep(dependencies.database, {
      companyId,
      dispatchId,
      stepId,
      runId,
      actor,
      kind: 'reconciled',
      facts: recipientFacts(step.service, settlement)
    }, settlement, following)
    observeOutcome(dependencies, run, step, settlement, following)
  } catch (error) {
    // A lookup can be repeated. The answer to a call may not come again, so it is kept.
    if (learnt.attempt !== undefined) {
      await recordLateOutcome(dependencies, { companyId, dispatchId, stepId, runId, attempt: learnt.attempt, actor, settlement }, error)
    }
    throw error
  }
}

/**
 * Finds out what it can. A request with an idempotency key is repeated for as long as the vendor remembers the key: that answer is sure,
 * while a lookup may come too early. Otherwise the vendor is asked by `lookup`. A provider with a checkpoint that was not reached has sent
 * nothing that counts.
 */
async function learn (dependencies: StepDependencies, run: Run, step: Step, since: SecondsUncertain): Promise<Learnt> {
  const offered = step.by?.provider?.manifest.services[step.service]
  if (!isCallable(step) || offered === undefined) return {}
  const { by, service } = step
  const { idempotency, checkpoint: prepares, timeLimit = usualTimeLimit } = offered
  const isSame = by.provider.version === by.version
  const remembers = idempotency.kind === 'key' && isSame && since.sinceFirst + timeLimit < idempotency.ttl
  if (remembers && !isAmongLost(step)) return await repeatCall(dependencies, run, step)
  const context = await contextOf(dependencies, run, step)
  if (by.provider.verbs[service]?.lookup !== undefined) {
    const learnt = await lookUpOutcome(dependencies, run, step, { context, since, counts: missCountsAfter(offered) })
    return isAmongLost(step) && !('settlement' in learnt && learnt.settlement.outcome === 'accepted') ? {} : learnt
  }
  return prepares === true && context.resources.checkpoint.id === undefined ? neverBegun(step) : {}
}

/** A lost database may have given the step to another provider of its list, so that a miss of this one proves nothing. */
function isAmongLost ({ state: { restored }, by }: CallableStep): boolean {
  return restored === true && by.list !== undefined
}

/** No checkpoint was reached, so that nothing of the call counts; unless it was reached and is lost with the database. */
function neverBegun ({ state: { restored } }: CallableStep): Learnt {
  return restored === true ? {} : unsent
}

type Looking = { context: CallContext, since: SecondsUncertain, counts: number }

/** Asks the vendor by `lookup`. Its "not found" counts only `counts` seconds after the last call. */
async function lookUpOutcome (
  dependencies: StepDependencies,
  run: Run,
  step: CallableStep,
  { context, since: { doubted, sinceCall }, counts }: Looking
): Promise<Learnt> {
  const { by: { provider, version }, service } = step
  const { id: checkpoint } = context.resources.checkpoint
  const answer = await callLookup(provider, service, { reference: step.stepId, ...(checkpoint === undefined ? {} : { checkpoint }) },
    context)
  if (!answer.ok) return {}
  const { value: found } = answer
  if (found.found === 'accepted') return { settlement: { outcome: 'accepted', response: found.response } }
  if (found.found === 'rejected') return { settlement: { outcome: 'rejected', error: refusedBy(found) } }
  // Too early: the vendor may still be working on the request, and a suspended process may still send it.
  if (sinceCall < counts) return { later: doubted - sinceCall + counts }
  if (found.found === 'draft') return provider.version === version ? await repeatCall(dependencies, run, step) : {}
  if (provider.manifest.services[service]?.checkpoint === true && checkpoint === undefined) return neverBegun(step)
  const again = run.detached || isOffPath(step)
  return { settlement: { outcome: 'unavailable', error: again ? missed : safeToSend }, again }
}

/** The error of an uncertain step, where no better one is known. */
export const uncertainError: StepError = {
  word: 'outcome_unknown',
  message: 'The provider may have accepted the request: do not send it again before its outcome is known.'
}

const unsent: Learnt = {
  settlement: {
    outcome: 'unavailable',
    error: { word: 'provider_unavailable', message: 'The request was interrupted before the provider accepted anything.' }
  },
  again: true
}

const missed: StepError = { word: 'provider_unavailable', message: 'The provider was asked, and has not accepted the request.' }

/** As `missed`, for a dispatch whose client waited for the answer: only the client may send it again. */
const safeToSend: StepError = {
  word: 'provider_unavailable',
  message: 'The provider was asked, and has not accepted the request: it is safe to send it again.'
}

function refusedBy ({ code, message }: { code: string, message: string }): StepError {
  return { word: 'provider_error', message, details: [{ path: '', code, message }] }
}

/**
 * The outcome that a person sets. `stepId`: of several in doubt, this one. `from`: the status of the dispatch. `noted` is done in the same
 * transaction.
 */
export type ManualResolution = {
  stepId?: string | undefined
  outcome: 'accepted' | 'rejected'
  reason: string
  from: DispatchStatus
  actor: Run['actor']
  noted: TransactionHook
}

/** Sets the outcome of the uncertain step; the dispatch goes on as after a reconciliation. Throws `conflict` when no step is uncertain. */
export async function resolveStep (
  dependencies: SettleDependencies,
  run: Run,
  { stepId, outcome, reason, from, actor, noted }: ManualResolution
): Promise<void> {
  const step = [...run.steps, ...run.deferred].find((one) =>
    one.state.status === 'uncertain' && (stepId === undefined || one.stepId === stepId)
  )
  if (step === undefined) {
    const which = stepId === undefined ? 'No step of the dispatch is' : 'The step is not, or no longer,'
    throw new DispatchError('conflict', `${which} uncertain: there is nothing to resolve.`, {
      reason: 'nothing_there',
      dispatchId: run.dispatchId
    })
  }
  const settlement: Settlement = outcome === 'accepted'
    ? { outcome, response: null }
    : { outcome, error: { word: 'provider_error', message: `Resolved as rejected: ${reason}` } }
  const { companyId, dispatchId, runId } = run
  const { doubted } = await secondsUncertain(dependencies.database, { companyId, stepId: step.stepId })
  const following = reconciliationFollowUpOf(dependencies, run, step, { settlement, from, doubted })
  const also: TransactionHook = async (queries) => {
    await noted(queries)
    await following.also?.(queries)
  }
  await settleStep(dependencies.database, { companyId, dispatchId, stepId: step.stepId, runId, actor, kind: 'resolved', facts: { reason } },
    settlement, { ...following, also })
  observeOutcome(dependencies, run, step, settlement, following)
}
