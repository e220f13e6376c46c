import { type Log, observe, type Problem } from '@dispatch/common'
import { DispatchError, type DispatchStatus, notifiedStatuses, refusal, type StepStatus } from '@dispatch/contract'
import { type Database, DatabaseUnavailable } from '@dispatch/database'
import { RendererBusy, RenderError, TemplateWorkersBusy } from '@dispatch/documents'
import { clientWord, type Outcome } from '@dispatch/host'
import type { EventActor, StepCandidate } from '@dispatch/tables'
import { setTimeout as pause } from 'node:timers/promises'
import { skipWithoutAcceptedSource } from '../../store/dispatch/deferred.ts'
import { type DispatchRecord, findDispatch } from '../../store/dispatch/dispatch-views.ts'
import type { TransactionHook } from '../../store/dispatch/lease.ts'
import { type Settlement, type SettlementFollowUp, settleStep } from '../../store/dispatch/steps.ts'
import type { Outbox } from '../outbox.ts'
import { recipientFacts } from '../respond/merged-response.ts'
import { isAcceptedByProvider, isOffPath, type Step } from '../step.ts'
import { type FollowUpDependencies, followUpsOf, inOneTransaction } from './remaining-recipients.ts'
import { reconcileScheduleOf, retryDelayOf } from './retry-policy.ts'
import type { Run } from './run.ts'

/** Milliseconds of a clock that only counts, and a pause of so many. */
export type RetryClock = { now: () => number, pause: (milliseconds: number) => Promise<unknown> }

/** What it takes to record the end of a step. `retryClock`: between the tries; that of the process unless given. */
export type SettleDependencies = FollowUpDependencies & { log: Log, retryClock?: RetryClock }

const ownClock: RetryClock = { now: () => performance.now(), pause }

/** Milliseconds before each try to record an outcome: it must survive a restart of the database. */
export const settleRetryDelays = [0, 50, 250, 1000, 2000, 4000, 8000]

/** Milliseconds after which no further try begins: a try takes long when the database is silent. */
export const settleRetryLimit = 15_000

/** What a dispatch has become with the outcome of a step. `finishedAt`: by the clock of the database; null where it goes on. */
export type Settled = { status: DispatchStatus, finishedAt: Date | null }

/**
 * Records what came of a step, as `actor` tells it, with its price and what follows: `next`, another provider. Tries again where the
 * database does not answer. Throws `outcome_unknown` where it is gone for too long, and `conflict` when another run has the dispatch.
 */
export async function settle (
  dependencies: SettleDependencies,
  run: Run,
  step: Step,
  { settlement, actor, next }: { settlement: Settlement, actor: EventActor, next?: StepCandidate | undefined }
): Promise<Settled> {
  const { database, log, retryClock: clock = ownClock } = dependencies
  const { companyId, dispatchId, runId } = run
  const following = next === undefined ? followingOf(dependencies, run, step, settlement) : { next, detached: run.detached }
  const { status = 'running' }: SettlementFollowUp = following
  const begun = clock.now()
  let failure: unknown
  for (const milliseconds of settleRetryDelays) {
    if (clock.now() - begun > settleRetryLimit) break
    if (milliseconds > 0) await clock.pause(milliseconds)
    try {
      const at = await settleStep(database, {
        companyId,
        dispatchId,
        stepId: step.stepId,
        runId,
        actor,
        facts: {
          ...recipientFacts(step.service, settlement),
          // Where the provider that is left was not called, the event is not its own.
          ...(next === undefined || step.by === undefined ? {} : { providerName: step.by.code })
        }
      }, settlement, following)
      observeOutcome(dependencies, run, step, settlement, following)
      return { status, finishedAt: goesOn(status) ? null : at }
    } catch (error) {
      // The try before may have been committed although its answer was lost: then this one finds the step settled.
      if (error instanceof DispatchError) {
        const record = failure === undefined
          ? undefined
          : await findRecorded(dependencies, run, step, next === undefined ? settlement.outcome : 'planned')
        if (record === undefined) throw error
        return { status, finishedAt: goesOn(status) ? null : record.finished_at }
      }
      failure = error
      log.warn({ err: error, companyId, dispatchId }, 'the outcome could not be recorded')
    }
  }
  log.error({ companyId, dispatchId, stepId: step.stepId, outcome: settlement.outcome }, 'the outcome is not recorded')
  // Whatever the outcome was: another run goes on with what is recorded, and the client must not send it again.
  throw new DispatchError('outcome_unknown',
    'The outcome of the dispatch could not be recorded, and is found out later. Do not send the request again before it is known.', {
    dispatchId,
    cause: failure
  })
}

/** Tells of an outcome that has been recorded, and of the end of its dispatch. */
export function observeOutcome (
  { log }: { log: Log },
  { companyId, dispatchId, documentNumber, steps }: Run,
  { service, by }: Step,
  settlement: Settlement,
  { status = 'running' }: SettlementFollowUp
): void {
  const provider = by?.code ?? 'none'
  observe('step', { service, provider, outcome: settlement.outcome })
  if (goesOn(status)) return
  observe('dispatch', { service: steps[0]?.service ?? service, status })
  if (settlement.outcome === 'accepted' || status === 'cancelled') return
  // Without the vendor's message, which may name a recipient. No warning: of those only the first of many are written.
  log.info({ companyId, dispatchId, documentNumber, status, service, provider, error: settlement.error.word },
    status === 'uncertain' ? 'whether a dispatch was accepted is not known' : 'a dispatch was not accepted')
}

/** Whether the run, or a later one, does more of the dispatch. */
function goesOn (status: DispatchStatus): boolean {
  return status === 'running' || status === 'queued'
}

/** The record of the dispatch if the step has become in it what is expected, whoever recorded it. */
async function findRecorded (
  { database, log }: { database: Database, log: Log },
  { companyId, dispatchId }: Run,
  { stepId }: Step,
  expected: StepStatus
): Promise<DispatchRecord | undefined> {
  const record = await findDispatch(database, companyId, dispatchId).catch((error: unknown) => {
    log.warn({ err: error, companyId, dispatchId }, 'the dispatch could not be read to see whether the outcome is recorded')
    return undefined
  })
  const all = record?.steps.flatMap((row) => [row, ...row.remaining]) ?? []
  return all.find((row) => row.step_id === stepId)?.status === expected ? record : undefined
}

/** What follows the outcome of a step: the next step, the end of the dispatch, a retry, or a reconciliation. */
function followingOf (
  dependencies: FollowUpDependencies,
  run: Run,
  step: Step,
  settlement: Settlement
): SettlementFollowUp {
  // Only what no client waits for is tried again by itself.
  const again = settlement.outcome === 'unavailable' && (run.detached || isOffPath(step))
    ? retryDelayOf({ stepId: step.stepId, tries: step.state.tries, requested: settlement.error.retryAfter })
    : undefined
  const reconciliation = settlement.outcome === 'uncertain' ? reconcileScheduleOf(step) : undefined
  const next = {
    detached: run.detached,
    ...(again === undefined ? {} : { tryAfter: again }),
    ...(reconciliation === undefined ? {} : { reconciliation })
  }
  if (again !== undefined) {
    return isOffPath(step)
      ? { ...next, jobs: [dependencies.jobs.deferred(run, step, again)] }
      : { status: 'queued', ...next, jobs: [dependencies.jobs.dispatch(run, again)] }
  }
  const after = followUpsOf(dependencies, run, step, settlement)
  if (isOffPath(step)) return { ...next, ...inOneTransaction(after) }
  const status = statusAfter(run, step, settlement)
  return { status, ...next, ...endEffectsOf(dependencies, run, status, after) }
}

/**
 * What is done in the transaction in which a dispatch ends. Deferred steps whose event can no longer come are skipped, and the company is
 * called back when no client waits. `after`: what follows its last step.
 */
export function endEffectsOf (
  dependencies: { database: Database, outbox: Outbox },
  run: Run,
  status: DispatchStatus,
  after: readonly TransactionHook[]
): Pick<SettlementFollowUp, 'also' | 'tell' | 'addressed'> {
  const waits = run.deferred.some(({ deferredOn }) => deferredOn !== undefined)
  const skips: TransactionHook[] = waits && (status === 'failed' || status === 'partial')
    ? [(queries) => skipWithoutAcceptedSource(queries, run, dependencies.database.now)]
    : []
  return {
    ...inOneTransaction([...after, ...skips]),
    ...(status === 'running'
      ? {}
      : { tell: enqueueEndCallback(dependencies, run, status), addressed: run.callbackUrl !== undefined })
  }
}

/** Calls back the end of a dispatch, where there is a callback for its status. */
export function enqueueEndCallback (
  { outbox }: { outbox: Outbox },
  run: Run,
  status: DispatchStatus
): TransactionHook {
  const reported = notifiedStatuses.find((one) => one === status)
  return (queries) => reported === undefined ? Promise.resolve() : outbox.enqueue(queries, run, `dispatch.${reported}`)
}

/** The status of a dispatch after the outcome of a step that is not tried again by itself. */
export function statusAfter ({ steps }: Pick<Run, 'steps'>, step: Step, { outcome }: Settlement): DispatchStatus {
  if (outcome === 'uncertain') return 'uncertain'
  const isLast = steps.at(-1)?.stepId === step.stepId
  if (outcome === 'accepted') return isLast ? 'succeeded' : 'running'
  return steps.some(isAcceptedByProvider) ? 'partial' : 'failed'
}

/** A provider's answer as it is recorded. The vendor's own error code goes into the details. */
export function settlementOf (outcome: Outcome): Settlement {
  if (outcome.outcome === 'accepted') return outcome
  const { word, code, message, retryAfter } = outcome.error
  return {
    outcome: outcome.outcome,
    error: {
      word: clientWord(word),
      message,
      ...(code === undefined ? {} : { details: [{ path: '', code, message }] }),
      ...(retryAfter === undefined ? {} : { retryAfter })
    }
  }
}

/**
 * The outcome of a failure before the provider was called, so nothing was sent. Wrong data are refused for good; a failure of the service
 * may be tried again. `placed`: where a place of the step stands in the client's body.
 */
export function settlementOfFailure (error: unknown, placed: (place: string) => string = (place) => place): Settlement {
  if (error instanceof RendererBusy || error instanceof TemplateWorkersBusy) {
    return { outcome: 'unavailable', error: { word: 'provider_unavailable', message: `${error.message} Nothing was sent.` } }
  }
  if (error instanceof DispatchError && error.word === 'validation_failed') return refused(error.details ?? [], placed)
  // A retry would find the document as expired or damaged as it is now.
  if (error instanceof DispatchError && (error.word === 'document_expired' || error.word === 'document_damaged')) {
    return { outcome: 'rejected', error: { word: error.word, message: error.message } }
  }
  if (error instanceof DispatchError && error.word === 'suppressed') {
    return { outcome: 'rejected', error: { word: error.word, message: error.message, details: [...error.details ?? []] } }
  }
  if (error instanceof DatabaseUnavailable) {
    return { outcome: 'unavailable', error: { word: 'service_unavailable', message: `${error.message} Nothing was sent.` } }
  }
  if (error instanceof DispatchError) {
    return {
      outcome: 'unavailable',
      error: {
        word: error.word,
        message: error.message,
        ...(error.reason === undefined ? {} : { reason: error.reason }),
        ...(error.retryAfter === undefined ? {} : { retryAfter: error.retryAfter })
      }
    }
  }
  if (!(error instanceof RenderError)) {
    return {
      outcome: 'unavailable',
      error: { word: 'internal_error', message: 'The dispatch failed before the provider was called; nothing was sent.' }
    }
  }
  return refused(error.problems, (place) => placed(`/template/data${place}`))
}

function refused (problems: readonly Problem[], placed: (place: string) => string): Settlement {
  const { message, details = [] } = refusal('validation_failed', problems.map((problem) => ({ ...problem, path: placed(problem.path) })))
  return { outcome: 'rejected', error: { word: 'validation_failed', message, details } }
}
