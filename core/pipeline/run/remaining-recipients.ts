import { hasRecipients, type ProviderResponse } from '@dispatch/contract'
import type { Database } from '@dispatch/database'
import { addJobs } from '@dispatch/tables'
import type { TransactionHook } from '../../store/dispatch/lease.ts'
import { insertRemainingStep } from '../../store/dispatch/remaining-recipients.ts'
import type { Settlement, SettlementFollowUp } from '../../store/dispatch/steps.ts'
import type { PipelineJobs } from '../jobs.ts'
import type { Outbox } from '../outbox.ts'
import { waitingIn, withRest } from '../respond/merged-response.ts'
import type { Step } from '../step.ts'
import { retryDelayOf } from './retry-policy.ts'
import type { Run } from './run.ts'

/** What the work of the transaction needs in which a step ends. */
export type FollowUpDependencies = { database: Database, jobs: PipelineJobs, outbox: Outbox, newId: () => string }

/**
 * What is done in the transaction in which a step ends. Its remaining recipients get a step of their own, until the retry policy ends.
 * Once no recipient is left, the company is told what has become of them. It is also told of a deferred step that has failed.
 */
export function followUpsOf (
  dependencies: FollowUpDependencies,
  run: Run,
  step: Step,
  settlement: Settlement
): TransactionHook[] {
  const left = leftBy(dependencies, step, settlement)
  const goesOn: TransactionHook = async (queries) => {
    if (left === undefined) return
    await insertRemainingStep(queries, { ...run, of: step.rest?.of ?? step.stepId, ...left }, dependencies.database.now)
    if (left.tryAfter !== undefined) await addJobs(queries, dependencies.jobs.deferred(run, left, left.tryAfter))
  }
  const isOver = settlement.outcome !== 'uncertain' && left?.tryAfter === undefined
  const tell = step.rest !== undefined && isOver
    ? [tellRest(dependencies, run, step.rest.answer, settlement)]
    : []
  return [...left === undefined ? [] : [goesOn], ...tell, ...tellDeferred(dependencies, run, step, settlement)]
}

/** Calls back `deferred.failed` when a deferred step is not tried again: no client waits for its answer. */
function tellDeferred (
  { outbox }: { outbox: Outbox },
  run: Run,
  { deferredOn, rest }: Step,
  { outcome }: Settlement
): TransactionHook[] {
  const failed = deferredOn !== undefined && rest === undefined && (outcome === 'rejected' || outcome === 'unavailable')
  return failed ? [(queries) => outbox.enqueue(queries, run, 'deferred.failed')] : []
}

type Left = { stepId: string, tries: number, tryAfter?: number }

function leftBy ({ newId }: { newId: () => string }, step: Step, settlement: Settlement): Left | undefined {
  if (!hasRecipients(step.service) || settlement.outcome !== 'accepted' || waitingIn(settlement.response).length === 0) return undefined
  const [stepId, tries] = [newId(), step.rest === undefined ? 0 : step.state.tries]
  const tryAfter = step.by?.provider?.manifest.services[step.service]?.rest === true ? retryDelayOf({ stepId, tries }) : undefined
  return { stepId, tries: tries + 1, ...(tryAfter === undefined ? {} : { tryAfter }) }
}

function tellRest (
  { outbox }: { outbox: Outbox },
  run: Run,
  answer: ProviderResponse,
  settlement: Settlement
): TransactionHook {
  const { status } = withRest(answer, { status: settlement.outcome, response: null, error: null, next_try_at: null, ...settlement })
  return (queries) => outbox.enqueue(queries, run, status === 'sent' ? 'email.sent' : 'email.partially_sent')
}

/** Runs several hooks in one transaction, one after the other. */
export function inOneTransaction (works: readonly TransactionHook[]): Pick<SettlementFollowUp, 'also'> {
  return works.length === 0 ? {} : {
    also: async (queries) => {
      for (const work of works) await work(queries)
    }
  }
}
