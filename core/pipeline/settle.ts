import { setTimeout as pause } from 'node:timers/promises'
import { DispatchError, refusal } from '../contract/errors.ts'
import type { DispatchStatus } from '../contract/states.ts'
import { RenderError } from '../documents/errors.ts'
import { RendererBusy } from '../documents/renderer.ts'
import type { Outcome } from '../host/call.ts'
import { settleStep, type Settlement } from '../store/dispatches.ts'
import type { EventActor } from '../store/schema.ts'
import type { Parts } from './parts.ts'
import type { Run, RunStep } from './run.ts'

/** What a dispatch becomes when one of its steps came to this and no other follows. */
export const statusAfter: Record<Settlement['outcome'], DispatchStatus> = {
  accepted: 'succeeded',
  rejected: 'failed',
  unavailable: 'failed',
  uncertain: 'uncertain'
}

/** Milliseconds before each try to record an outcome: what a provider has accepted must not be lost to a blink of the database. */
const pauses = [0, 50, 250, 1000]

/**
 * Records what came of a step, and its price; where the database is gone for too long, the log has it. Throws `outcome_unknown`
 * then, unless the step was surely not accepted, and `conflict` when another run has settled the step.
 */
export async function settle ({ database, log, now }: Pick<Parts, 'database' | 'log' | 'now'>, run: Run, step: RunStep, settlement: Settlement, actor: EventActor): Promise<void> {
  const { companyId, dispatchId } = run
  let failure: unknown
  for (const milliseconds of pauses) {
    if (milliseconds > 0) await pause(milliseconds)
    try {
      await settleStep(database, { companyId, dispatchId, stepId: step.stepId, actor }, settlement, statusAfter[settlement.outcome], now())
      return
    } catch (error) {
      // A try that failed may have been recorded all the same: then the next one finds the step settled.
      if (error instanceof DispatchError && failure !== undefined) return
      if (error instanceof DispatchError) throw error
      failure = error
      log.warn({ err: error, companyId, dispatchId }, 'the outcome could not be recorded')
    }
  }
  log.error({ companyId, dispatchId, stepId: step.stepId, outcome: settlement.outcome }, 'the outcome is not recorded')
  if (settlement.outcome === 'rejected' || settlement.outcome === 'unavailable') return
  throw new DispatchError('outcome_unknown', 'The provider was called, but its answer could not be recorded. The request must not be sent again before it is known what became of it.', { dispatchId, cause: failure })
}

/** A provider's answer as it is recorded: the vendor's own code goes into the details. */
export function settlementOf (outcome: Outcome): Settlement {
  if (outcome.outcome === 'accepted') return outcome
  const { word, code, message } = outcome.error
  return { outcome: outcome.outcome, error: { word, message, ...(code === undefined ? {} : { details: [{ path: '', code, message }] }) } }
}

/** What failed before the provider was called: a fault of the data is final, ours may pass. Either way nothing was sent. */
export function settlementOfFailure (error: unknown): Settlement {
  if (error instanceof RendererBusy) return { outcome: 'unavailable', error: { word: 'provider_unavailable', message: `${error.message} Nothing was sent.` } }
  if (error instanceof DispatchError && error.word === 'validation_failed') return { outcome: 'rejected', error: { word: error.word, message: error.message, details: error.details ?? [] } }
  if (error instanceof DispatchError) return { outcome: 'unavailable', error: { word: error.word, message: error.message } }
  if (!(error instanceof RenderError)) return { outcome: 'unavailable', error: { word: 'internal_error', message: 'The dispatch failed before the provider was called; nothing was sent.' } }
  const { message, details = [] } = refusal('validation_failed', error.problems.map((problem) => ({ ...problem, path: `/template/data${problem.path}` })))
  return { outcome: 'rejected', error: { word: 'validation_failed', message, details } }
}
