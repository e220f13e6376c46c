import type { DispatchStatus } from '@dispatch/contract'
import type { Settlement, SettlementFollowUp } from '../../store/dispatch/steps.ts'
import { isOffPath, type Step } from '../step.ts'
import { type FollowUpDependencies, followUpsOf, inOneTransaction } from './remaining-recipients.ts'
import { chainResumeWindow, retryDelayOf } from './retry-policy.ts'
import type { Run } from './run.ts'
import { endEffectsOf, statusAfter } from './settle.ts'

/** What was found out about an uncertain step. `again`: it was surely not sent and may be sent again without a person. */
export type ReconciledOutcome = { settlement: Settlement, again?: boolean }

/**
 * What follows when the outcome of an uncertain step is found. `doubted`: seconds since it became uncertain. `from`: the status of its
 * dispatch. No client waits for the answer any more.
 */
export function reconciliationFollowUpOf (
  dependencies: FollowUpDependencies,
  run: Run,
  step: Step,
  { settlement, again = false, doubted, from }: ReconciledOutcome & { doubted: number, from: DispatchStatus }
): SettlementFollowUp {
  const tryAfter = again ? retryDelayOf({ stepId: step.stepId, tries: step.state.tries }) : undefined
  const next = { detached: true, ...(tryAfter === undefined ? {} : { tryAfter }) }
  if (tryAfter !== undefined) {
    return isOffPath(step)
      ? { ...next, jobs: [dependencies.jobs.deferred(run, step, tryAfter)] }
      : { ...next, status: 'queued', jobs: [dependencies.jobs.dispatch(run, tryAfter)] }
  }
  const after = followUpsOf(dependencies, run, step, settlement)
  if (isOffPath(step)) return { ...next, ...inOneTransaction(after) }
  const status = statusAfter(run, step, settlement)
  if (status === 'running' && doubted <= chainResumeWindow && holdsRest.has(from)) {
    return { ...next, status: 'queued', jobs: [dependencies.jobs.dispatch(run)], ...inOneTransaction(after) }
  }
  const end = status === 'running' ? 'partial' : status
  return { ...next, status: end, ...endEffectsOf(dependencies, run, end, after) }
}

/** The statuses of a dispatch in which the price of its later steps is still held. */
const holdsRest: ReadonlySet<DispatchStatus> = new Set(['running', 'uncertain', 'queued'])
