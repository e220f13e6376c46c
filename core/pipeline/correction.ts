import { setTimeout as pause } from 'node:timers/promises'
import { dispatchStatuses, type StepStatus } from '../contract/states.ts'
import { secondsInDoubt } from '../store/dispatch-views.ts'
import { endRun, takeRun } from '../store/runs.ts'
import type { EventActor } from '../store/schema.ts'
import { lastAttempt, noteLateAnswer, settleStep, type Settlement } from '../store/steps.ts'
import { conclusionOf } from './conclusion.ts'
import { openRemains } from './load.ts'
import type { Parts } from './parts.ts'
import { isBeside, type RunStep } from './run.ts'
import { recipientFacts } from './whole-response.ts'

/** The call that was answered late: which attempt at which step, and whose answer it is. */
export type LateCall = { companyId: number, dispatchId: string, stepId: string, attempt: number, actor: EventActor }

/** Milliseconds before each try to get the dispatch from the run that has it now. */
const pauses = [0, 1000, 5000, 15_000, 30_000]

/** What an answer may still change of a step that others have concluded upon: an acceptance is a fact, whatever was said meanwhile. */
const corrected: Record<Settlement['outcome'], readonly StepStatus[]> = {
  accepted: ['planned', 'unavailable', 'uncertain', 'rejected'],
  rejected: ['planned', 'unavailable', 'uncertain'],
  unavailable: ['uncertain'],
  uncertain: []
}

/**
 * Records what came of a call whose run had lost its dispatch by then. Where nobody has done the step meanwhile, it is what
 * the answer says and its dispatch goes on from there; else the timeline alone tells of it.
 */
export async function correct (parts: Parts, call: LateCall, settlement: Settlement): Promise<void> {
  if (settlement.outcome === 'uncertain') return
  for (const milliseconds of pauses) {
    await pause(milliseconds)
    if (await takeAndCorrect(parts, call, settlement)) return
  }
  await noteLateAnswer(parts.database, call, settlement)
}

/** Answers false where another run has the dispatch. */
async function takeAndCorrect (parts: Parts, call: LateCall, settlement: Settlement): Promise<boolean> {
  const { database, leases, log } = parts
  const { companyId, dispatchId, stepId, attempt, actor } = call
  return leases.under(async (lease) => {
    const taken = await takeRun(database, call, { lease, from: dispatchStatuses })
    if (taken === undefined) return false
    try {
      const run = await openRemains(parts, taken, lease.runId)
      const step = [...run.steps, ...run.deferred].find((one) => one.stepId === stepId)
      if (step === undefined || !await isOpen(parts, call, step, settlement)) {
        await noteLateAnswer(database, call, settlement)
        return true
      }
      const again = settlement.outcome === 'unavailable' && (run.detached || isBeside(step))
      const following = conclusionOf(parts, run, step, { settlement, again, doubted: await secondsInDoubt(database, call), from: taken.status })
      const from = corrected[settlement.outcome]
      await settleStep(database, { companyId, dispatchId, stepId, runId: lease.runId, actor, kind: 'corrected', facts: { ...recipientFacts(step.service, settlement), attempt, before: step.result.status }, from }, settlement, following)
      log.warn({ companyId, dispatchId, stepId, outcome: settlement.outcome, before: step.result.status }, 'an answer came after the dispatch was lost, and is recorded')
      return true
    } finally {
      await endRun(database, call, lease.runId)
    }
  })
}

/** Whether nothing says more about the step than this answer: only an acceptance counts beside what came of a later attempt. */
async function isOpen ({ database }: Parts, call: LateCall, { result: { status } }: RunStep, { outcome }: Settlement): Promise<boolean> {
  return corrected[outcome].includes(status) && (outcome === 'accepted' || await lastAttempt(database, call) === call.attempt)
}
