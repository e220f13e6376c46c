import { DispatchError } from '../../contract/errors.ts'
import { dispatchStatuses, type StepStatus } from '../../contract/states.ts'
import { DatabaseUnavailable } from '../../store/db/unavailable.ts'
import { secondsInDoubt } from '../../store/dispatch/dispatch-views.ts'
import { acquireLease, releaseLease } from '../../store/dispatch/runs.ts'
import { lastAttempt, noteLateAnswer, type Settlement, settleStep, whetherRecorded } from '../../store/dispatch/steps.ts'
import type { PipelineDependencies } from '../dependencies.ts'
import { recipientFacts } from '../respond/merged-response.ts'
import { rehydrateWhatIsKept } from '../run/rehydrate.ts'
import { isOffPath, type Run, type RunStep } from '../run/run.ts'
import { reconciliationFollowUpOf } from './after-reconciliation.ts'
import type { LateOutcome, RecordedLate } from './outcome-spool.ts'

/** What an answer may still change of a step that others have concluded upon: an acceptance is a fact, whatever was said meanwhile. */
const corrected: Record<Settlement['outcome'], readonly StepStatus[]> = {
  accepted: ['planned', 'calling', 'unavailable', 'uncertain', 'rejected'],
  rejected: ['planned', 'calling', 'unavailable', 'uncertain'],
  unavailable: ['calling', 'uncertain'],
  uncertain: []
}

/**
 * Records what came of a call although its run could not: it had lost its dispatch by then (`conflict`), or the database was
 * away for too long. What cannot be recorded now is kept on the disk until it can.
 */
export async function recordLateOutcome (parts: PipelineDependencies, late: LateOutcome, why: unknown): Promise<void> {
  // Whoever recovers the dispatch finds a doubt by itself.
  if (late.settlement.outcome === 'uncertain') return
  const isLost = why instanceof DispatchError && why.word === 'conflict'
  if (isLost && await record(parts, late).catch((error: unknown) => notRecorded(parts, late, error)) === 'done') return
  const { companyId, dispatchId, stepId, settlement: { outcome } } = late
  try {
    await parts.outcomes.keep(late)
    parts.log.warn({ companyId, dispatchId, stepId, outcome }, 'the outcome is kept on the disk until it can be recorded')
  } catch (error) {
    parts.log.error({ err: error, companyId, dispatchId, stepId, outcome },
      'the outcome could be kept neither in the database nor on the disk')
  }
}

/** Records the outcomes that lie on the disk, as far as their dispatches are to be had now. Rejects while the database is away. */
export async function recordSpooledOutcomes (parts: PipelineDependencies): Promise<void> {
  await parts.outcomes.drain((late) =>
    record(parts, late).catch((error: unknown) => {
      if (error instanceof DatabaseUnavailable) throw error
      // One that cannot be recorded keeps nobody else from it.
      return notRecorded(parts, late, error)
    })
  )
}

function notRecorded ({ log }: PipelineDependencies, { companyId, dispatchId }: LateOutcome, error: unknown): 'later' {
  log.error({ err: error, companyId, dispatchId }, 'an outcome could not be recorded; it is kept')
  return 'later'
}

/**
 * Records an outcome under a lease of its own, once. Where nobody has done the step meanwhile, it is what the answer says and
 * its dispatch goes on from there; else the timeline alone tells of it.
 */
async function record (parts: PipelineDependencies, late: LateOutcome): Promise<RecordedLate> {
  const { database, leases } = parts
  return leases.withLease(async (lease) => {
    const known = await whetherRecorded(database, late)
    if (known !== 'open') return known === 'unknown' ? known : 'done'
    const taken = await acquireLease(database, late, { lease, from: dispatchStatuses, ended: late.runId })
    if (taken === undefined) return 'later'
    try {
      // Another process may have been at it until now.
      if (await whetherRecorded(database, late) === 'open') {
        await conclude(parts, late, await rehydrateWhatIsKept(parts, taken, lease.runId), taken.status)
      }
      return 'done'
    } finally {
      await releaseLease(database, late, lease.runId)
    }
  })
}

async function conclude (parts: PipelineDependencies, late: LateOutcome, run: Run, from: (typeof dispatchStatuses)[number]): Promise<void> {
  const { database, log } = parts
  const { companyId, dispatchId, stepId, attempt, actor, settlement } = late
  const step = [...run.steps, ...run.deferred].find((one) => one.stepId === stepId)
  if (step === undefined || !await isOpen(parts, late, step)) return noteLateAnswer(database, { ...late, runId: run.runId })
  const before = step.result.status
  const again = settlement.outcome === 'unavailable' && (run.detached || isOffPath(step))
  const { doubted } = await secondsInDoubt(database, late)
  const following = reconciliationFollowUpOf(parts, run, step, { settlement, again, doubted, from })
  const facts = { ...recipientFacts(step.service, settlement), attempt, ...(before === 'calling' ? {} : { before }) }
  await settleStep(database, {
    companyId,
    dispatchId,
    stepId,
    runId: run.runId,
    actor,
    ...(before === 'calling' ? {} : { kind: 'corrected' }),
    facts,
    from: corrected[settlement.outcome]
  }, settlement, following)
  log.warn({ companyId, dispatchId, stepId, outcome: settlement.outcome, before }, 'an answer is recorded after its run had ended')
}

/** Whether nothing says more about the step than this answer: only an acceptance counts beside what came of a later attempt. */
async function isOpen ({ database }: PipelineDependencies, late: LateOutcome, { result: { status } }: RunStep): Promise<boolean> {
  const { outcome } = late.settlement
  return corrected[outcome].includes(status) && (outcome === 'accepted' || await lastAttempt(database, late) === late.attempt)
}
