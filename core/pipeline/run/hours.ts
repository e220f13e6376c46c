import { postponeDispatch } from '../../store/dispatch/runs.ts'
import { opensAt } from '../plan/schedule.ts'
import type { Step } from '../step.ts'
import type { Run } from './run.ts'
import { settle, type Settled, type SettleDependencies } from './settle.ts'

/**
 * Lets a dispatch wait where a step would now be sent outside the hours that its request gives: the queue may have come late to it, or this
 * is a retry. Answers undefined where the step can go on.
 */
export async function waitForHours (
  dependencies: SettleDependencies,
  run: Run,
  step: Step
): Promise<Settled & { sendAt?: string } | undefined> {
  const { companyId, dispatchId, runId, schedule, steps, attempted } = run
  // One whose attempt stands in its record has just been planned.
  if (schedule === undefined || attempted === step.stepId) return undefined
  const now = await dependencies.database.time()
  const at = opensAt(schedule, steps.filter(({ state }) => state.status !== 'accepted'), now)
  if (at === undefined) return settle(dependencies, run, step, { settlement: neverOpen, actor: { kind: 'system' } })
  if (at <= now) return undefined
  const sendAt = at.toISOString()
  await postponeDispatch(dependencies.database, {
    companyId,
    dispatchId,
    runId,
    schedule: { ...schedule, dueAt: sendAt },
    jobs: dependencies.jobs.scheduled(run, sendAt)
  })
  return { status: 'queued', finishedAt: null, sendAt }
}

/** The recipient was corrected since the hours were checked. */
const neverOpen = {
  outcome: 'rejected' as const,
  error: { word: 'validation_failed' as const, message: 'No time is within the hours of this dispatch at its recipient\'s.' }
}
