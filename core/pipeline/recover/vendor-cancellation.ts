import { canTransition, type DeliveryService, type DeliveryStatus, DispatchError } from '@dispatch/contract'
import type { Database } from '@dispatch/database'
import { callCancel, type CallContext, callStatus, type CancelResult, clientWord, type InstalledProvider, statusOf } from '@dispatch/host'
import type { EventActor } from '@dispatch/tables'
import { providerOfStep } from '../../configuration/serving.ts'
import type { DispatchRecord } from '../../store/dispatch/dispatch-views.ts'
import type { TransactionHook } from '../../store/dispatch/lease.ts'
import { beginCancellation, type CancellationEnd, endCancellation } from '../../store/vendor/cancellations.ts'
import { type DeliveryReport, listUnsettledSteps, type TrackedStep } from '../../store/vendor/deliveries.ts'
import type { ProviderDependencies } from '../run/installed.ts'
import { type AfterwardsDependencies, busyError, contextAfterwards, whileHeld } from './afterwards.ts'
import { createStatusChangeHandler } from './status-change.ts'

/** A step that its vendor can be asked to take back. */
type CancellableStep = { step: TrackedStep, provider: InstalledProvider }

/** Milliseconds for the question what became of it: a client is waiting. */
const statusLimit = 15_000

/**
 * Asks the vendors of the accepted steps of a dispatch to take them back, the last step first, under the lease of the dispatch. What a
 * vendor says moves the delivery status alone: an accepted dispatch stays what it is, and is paid. Throws `conflict` when nothing can be
 * taken back, a vendor refuses, or another run has the dispatch; otherwise the error of the vendor that failed.
 */
export async function cancelAtVendors (
  dependencies: AfterwardsDependencies,
  record: DispatchRecord,
  { actor, audited }: { actor: EventActor, audited: TransactionHook }
): Promise<void> {
  const ref = { companyId: record.company_id, dispatchId: record.dispatch_id }
  const ended = await whileHeld(dependencies, record, async (runId) => {
    const steps = await cancellableSteps(dependencies, ref)
    if (steps.length === 0) {
      const message = 'There is nothing to take back: what was accepted is settled, or its provider cannot cancel it.'
      throw new DispatchError('conflict', message, ref)
    }
    await dependencies.database.company(ref.companyId, async (queries) => audited(queries))
    const failures: DispatchError[] = []
    for (const one of steps) failures.push(...await takeBack(dependencies, one, { runId, actor }).then(() => [], failureOf))
    // An unknown end matters more than an unchanged one.
    const worst = failures.find(({ word }) => word === 'outcome_unknown') ?? failures[0]
    if (worst !== undefined) throw worst
  })
  if (ended === 'busy') throw busyError(ref.dispatchId)
}

/** The steps that are accepted, not settled in delivery, and of a provider with the verb `cancel`. */
async function cancellableSteps (
  dependencies: ProviderDependencies & { database: Database },
  ref: { companyId: number, dispatchId: string }
): Promise<CancellableStep[]> {
  const found: CancellableStep[] = []
  for (const step of await listUnsettledSteps(dependencies.database, ref)) {
    const provider = await providerOfStep(dependencies, { ...step, code: step.providerCode })
    if (provider?.verbs[step.service]?.cancel !== undefined) found.push({ step, provider })
  }
  return found
}

/** After the failure of one vendor the others are still asked; after a failure of our own they are not. */
function failureOf (error: unknown): DispatchError[] {
  if (error instanceof DispatchError) return [error]
  throw error
}

/**
 * Asks one vendor. What was asked is noted before the call, and its end after it. Where this process ends between the two, the sweep notes
 * that the end is not known.
 */
async function takeBack (
  dependencies: AfterwardsDependencies,
  one: CancellableStep,
  { runId, actor }: { runId: string, actor: EventActor }
): Promise<void> {
  const { step } = one
  const context = await contextAfterwards(dependencies, one, { runId, reference: step.stepId, idempotencyKey: `cancel:${step.stepId}` })
  const begun = await beginCancellation(dependencies.database, step, { runId, actor })
  if (begun === undefined) {
    throw new DispatchError('conflict', 'The dispatch was lost to another process: try again in a moment.', {
      reason: 'being_done',
      dispatchId: step.dispatchId
    })
  }
  const requested = await callCancel(one.provider, step.service, { id: step.remoteId }, context)
  const report = requested.outcome === 'unavailable' && !begun.doubted ? undefined : await reportOf(one, requested, context)
  const status = report?.status ?? null
  const end = endOf(step.service, requested, { status, doubted: begun.doubted })
  const error = errorOf(step, requested, { end, status })
  await endCancellation(dependencies.database, step, {
    runId,
    end,
    message: error?.message,
    report,
    moved: createStatusChangeHandler(dependencies)
  })
    .catch((cause: unknown) => {
      const message = `What came of it could not be recorded. ${askAgain}`
      throw new DispatchError('outcome_unknown', message, { dispatchId: step.dispatchId, cause })
    })
  if (error !== undefined) throw error
}

/** What the vendor says of the step now: it refuses what is cancelled already, and its answer may be lost. */
async function reportOf (
  { step, provider }: CancellableStep,
  requested: CancelResult,
  context: CallContext
): Promise<DeliveryReport | undefined> {
  const cancelled = requested.outcome === 'cancelled'
    ? { ok: true as const, value: requested.reported }
    : await callStatus(provider, step.service, { id: step.remoteId }, context, { limit: statusLimit })
  if (!cancelled.ok) return undefined
  return { reported: cancelled.value, status: statusOf(provider.manifest.services[step.service]?.statuses ?? {}, cancelled.value.status) }
}

/**
 * How a cancellation has ended, by the vendor's answer to it and the delivery status after it (null: unknown). A refusal proves nothing
 * where an earlier one is `doubted`: what is cancelled already is refused too.
 */
export function endOf (
  service: DeliveryService,
  { outcome }: Pick<CancelResult, 'outcome'>,
  { status, doubted }: { status: DeliveryStatus | null, doubted: boolean }
): CancellationEnd {
  if (status === 'cancelled') return 'cancelled'
  if (status !== null && isTooLate(service, status)) return 'not_cancelled'
  const refused = outcome === 'rejected' || outcome === 'unavailable'
  return refused && (!doubted || status !== null) ? 'not_cancelled' : 'cancel_unknown'
}

function isTooLate (service: DeliveryService, status: DeliveryStatus): boolean {
  return !canTransition(service, status, 'cancelled')
}

const askAgain = 'It may have been taken back; asking once more is safe.'

/** What the client is told of a step that was not taken back, as far as it is known. */
function errorOf (
  { service, dispatchId }: TrackedStep,
  requested: CancelResult,
  { end, status }: { end: CancellationEnd, status: DeliveryStatus | null }
): DispatchError | undefined {
  if (end === 'cancelled') return undefined
  const why = requested.outcome === 'cancelled'
    ? 'The answer of the provider does not say that it was taken back.'
    : requested.error.message
  if (end === 'cancel_unknown') {
    return new DispatchError('outcome_unknown', `${why} ${askAgain}`, { dispatchId })
  }
  if (status !== null && isTooLate(service, status)) {
    return new DispatchError('conflict', `The provider does not take it back: its delivery status is "${status}".`, {
      reason: 'not_taken_back',
      dispatchId
    })
  }
  const { word, retryAfter } = requested.outcome === 'cancelled' ? { word: 'provider_error' } as const : requested.error
  return word === 'provider_error'
    ? new DispatchError('conflict', `The provider does not take it back: ${why}`, { dispatchId })
    : new DispatchError(clientWord(word), why, { dispatchId, ...(retryAfter === undefined ? {} : { retryAfter }) })
}
