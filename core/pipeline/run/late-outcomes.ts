import type { Log } from '@dispatch/common'
import { DispatchError, dispatchStatuses, type StepStatus } from '@dispatch/contract'
import { type Database, DatabaseUnavailable } from '@dispatch/database'
import { secondsUncertain } from '../../store/dispatch/dispatch-views.ts'
import { acquireLease, releaseLease } from '../../store/dispatch/runs.ts'
import { lastAttempt, noteLateAnswer, type Settlement, settleStep, whetherRecorded } from '../../store/dispatch/steps.ts'
import { recipientFacts } from '../respond/merged-response.ts'
import { isOffPath, type Step } from '../step.ts'
import { reconciliationFollowUpOf } from './after-reconciliation.ts'
import type { Leases } from './leases.ts'
import type { LateOutcome, OutcomeSpool, RecordedLate } from './outcome-spool.ts'
import { type RehydrateDependencies, rehydrateWhatIsKept, type Run } from './run.ts'
import { observeOutcome, type SettleDependencies, settlementOfFailure } from './settle.ts'

/** What it takes to record an outcome that its run could not record. */
export type OutcomeDependencies = RehydrateDependencies & SettleDependencies & { leases: Leases, outcomes: OutcomeSpool, now: () => Date }

/** The statuses of a step that a late answer may still change. An acceptance is a fact: it changes every status but `accepted`. */
const corrected: Record<Settlement['outcome'], readonly StepStatus[]> = {
  accepted: ['planned', 'calling', 'unavailable', 'uncertain', 'rejected'],
  rejected: ['planned', 'calling', 'unavailable', 'uncertain'],
  unavailable: ['calling', 'uncertain'],
  uncertain: []
}

/**
 * Records the outcome of a call that its run could not record: the run had lost the dispatch (`conflict`), or the database was away for too
 * long. What cannot be recorded now is kept on the disk.
 */
export async function recordLateOutcome (dependencies: OutcomeDependencies, late: LateOutcome, why: unknown): Promise<void> {
  // The recovery of the dispatch makes the step uncertain without this.
  if (late.settlement.outcome === 'uncertain') return
  const isLost = why instanceof DispatchError && why.word === 'conflict'
  if (isLost && await record(dependencies, late).catch((error: unknown) => notRecorded(dependencies, late, error)) === 'done') return
  await keep(dependencies, late)
}

async function keep (dependencies: { outcomes: OutcomeSpool, log: Log }, late: LateOutcome): Promise<void> {
  const { companyId, dispatchId, stepId, settlement: { outcome } } = late
  try {
    await dependencies.outcomes.keep(late)
    dependencies.log.warn({ companyId, dispatchId, stepId, outcome }, 'the outcome is kept on the disk until it can be recorded')
  } catch (error) {
    dependencies.log.error({ err: error, companyId, dispatchId, stepId, outcome },
      'the outcome could be kept neither in the database nor on the disk')
  }
}

/**
 * Notes on the disk that nothing was sent for an attempt whose recording has an unknown outcome. If the database has it after all, its
 * dispatch goes on from there and does not become uncertain.
 */
export async function keepUnsent (
  dependencies: { outcomes: OutcomeSpool, log: Log, now: () => Date },
  { companyId, dispatchId }: Pick<LateOutcome, 'companyId' | 'dispatchId'>,
  stepId: string,
  runId: string
): Promise<void> {
  const settlement = settlementOfFailure(new DatabaseUnavailable('away'))
  const unsureSince = dependencies.now().getTime()
  await keep(dependencies, { companyId, dispatchId, stepId, runId, attempt: 1, actor: { kind: 'system' }, settlement, unsureSince })
}

/** Records the outcomes on the disk whose dispatches have no other run now. Rejects while the database is away. */
export async function recordSpooledOutcomes (dependencies: OutcomeDependencies): Promise<void> {
  await dependencies.outcomes.drain((late) =>
    record(dependencies, late).catch((error: unknown) => {
      if (error instanceof DatabaseUnavailable) throw error
      // One that cannot be recorded must not block the others.
      return notRecorded(dependencies, late, error)
    })
  )
}

function notRecorded ({ log }: { log: Log }, { companyId, dispatchId }: LateOutcome, error: unknown): 'later' {
  log.error({ err: error, companyId, dispatchId }, 'an outcome could not be recorded; it is kept')
  return 'later'
}

/**
 * Records an outcome once, under a lease of its own. If nothing newer is known of the step, it gets this outcome and its dispatch goes on
 * from there. Otherwise only the timeline gets an entry.
 */
async function record (dependencies: OutcomeDependencies, late: LateOutcome): Promise<RecordedLate> {
  const { database, leases } = dependencies
  return leases.withLease(async (lease) => {
    const known = await whetherRecorded(database, late)
    if (known === 'unknown') return whetherLost(dependencies, late)
    if (known === 'recorded') return 'done'
    const taken = await acquireLease(database, late, { lease, from: dispatchStatuses, ended: late.runId })
    if (taken === undefined) return 'later'
    try {
      // Another process may have recorded it before this one got the lease.
      if (await whetherRecorded(database, late) === 'open') {
        await conclude(dependencies, late, await rehydrateWhatIsKept(dependencies, taken, lease.runId), taken.status)
      }
      return 'done'
    } finally {
      await releaseLease(database, late, lease.runId)
    }
  })
}

/** Milliseconds within which the database commits a statement whose answer was lost, or rolls it back. */
const commitLimit = 60_000

/** An attempt that the database has not. One that may never have been recorded needs no outcome. */
function whetherLost ({ now }: { now: () => Date }, { unsureSince }: LateOutcome): RecordedLate {
  if (unsureSince === undefined) return 'unknown'
  return now().getTime() - unsureSince > commitLimit ? 'done' : 'later'
}

async function conclude (
  dependencies: SettleDependencies,
  late: LateOutcome,
  run: Run,
  from: (typeof dispatchStatuses)[number]
): Promise<void> {
  const { database, log } = dependencies
  const { companyId, dispatchId, stepId, attempt, actor, settlement } = late
  const step = [...run.steps, ...run.deferred].find((one) => one.stepId === stepId)
  if (step === undefined || !await isOpen(dependencies, late, step)) return noteLateAnswer(database, { ...late, runId: run.runId })
  const before = step.state.status
  const again = settlement.outcome === 'unavailable' && (run.detached || isOffPath(step) || late.unsureSince !== undefined)
  const { doubted } = await secondsUncertain(database, late)
  const following = reconciliationFollowUpOf(dependencies, run, step, { settlement, again, doubted, from })
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
  observeOutcome(dependencies, run, step, settlement, following)
  log.warn({ companyId, dispatchId, stepId, outcome: settlement.outcome, before }, 'an answer is recorded after its run had ended')
}

/** Whether the answer still counts: after a later attempt only an acceptance does. */
async function isOpen (
  { database }: { database: Database },
  late: LateOutcome,
  { state: { status } }: Step
): Promise<boolean> {
  const { outcome } = late.settlement
  return corrected[outcome].includes(status) && (outcome === 'accepted' || await lastAttempt(database, late) === late.attempt)
}
