import { configurationUsed } from '../../configuration/sandbox.ts'
import { DispatchError } from '../../contract/errors.ts'
import type { EventKind } from '../../contract/states.ts'
import { callCancel } from '../../host/call/cancel.ts'
import type { FailedCall } from '../../host/call/invoke.ts'
import type { InstalledProvider } from '../../host/load/load.ts'
import { statusOf } from '../../host/webhook/read.ts'
import type { EventActor } from '../../store/db/schema.ts'
import { type DispatchRecord, noteStepEvent } from '../../store/dispatch/dispatch-views.ts'
import type { TransactionHook } from '../../store/dispatch/lease.ts'
import { acquireLease, releaseLease } from '../../store/dispatch/runs.ts'
import { applyPoll, listUnsettledSteps, type TrackedStep } from '../../store/vendor/deliveries.ts'
import type { PipelineDependencies } from '../dependencies.ts'
import { callContextOf } from '../run/call-context.ts'
import { createStatusChangeHandler } from './status-change.ts'

/** A step that its vendor can be asked to take back. */
type CancellableStep = { step: TrackedStep, provider: InstalledProvider }

/** What of a dispatch its vendors can be asked to take back: accepted, not settled in delivery, of a provider with the verb `cancel`. */
export async function cancellableSteps (parts: PipelineDependencies, record: DispatchRecord): Promise<CancellableStep[]> {
  if (!['succeeded', 'partial'].includes(record.status)) return []
  const steps = await listUnsettledSteps(parts.database, { companyId: record.company_id, dispatchId: record.dispatch_id })
  return steps.flatMap((step) => {
    const provider = parts.host.find(step.providerCode)
    return provider?.verbs[step.service]?.cancel === undefined ? [] : [{ step, provider }]
  })
}

/**
 * Asks the vendors of accepted steps to take them back, one after the other, under the lease of the dispatch. What was asked is in the
 * timeline before the call: a process that ends during it leaves it there, and asking once more is safe. What a vendor says moves the
 * delivery status alone: an accepted dispatch stays what it is, and is paid. Throws `conflict` when a vendor refuses, or another run has
 * the dispatch, and what the vendor's failure is otherwise.
 */
export async function cancelAtVendors (
  parts: PipelineDependencies,
  record: DispatchRecord,
  { steps, actor, audited }: { steps: readonly CancellableStep[], actor: EventActor, audited: TransactionHook }
): Promise<void> {
  const ref = { companyId: record.company_id, dispatchId: record.dispatch_id }
  await parts.leases.withLease(async (lease) => {
    const taken = await acquireLease(parts.database, ref, { lease, from: [record.status] })
    if (taken === undefined) throw new DispatchError('conflict', 'The dispatch is being worked on: try again in a moment.', ref)
    try {
      for (const { step, provider } of steps) {
        const note = (kind: EventKind, facts: { message?: string }, also?: TransactionHook): Promise<void> =>
          noteStepEvent(parts.database, { ...ref, stepId: step.stepId, kind, actor, facts }, also)
        await note('cancelling', {}, audited)
        const answer = await askVendor(parts, { step, provider }, lease.runId)
        if (answer.outcome !== 'cancelled') {
          await note('not_cancelled', { message: answer.error.message })
          throw refusedCancellation(answer, ref.dispatchId)
        }
        const { reported } = answer
        const statuses = provider.manifest.services[step.service]?.statuses ?? {}
        await applyPoll(parts.database, step, { reported, status: statusOf(statuses, reported.status) }, createStatusChangeHandler(parts))
      }
    } finally {
      await releaseLease(parts.database, ref, lease.runId)
    }
  })
}

async function askVendor (
  parts: PipelineDependencies,
  { step, provider }: CancellableStep,
  runId: string
): Promise<Awaited<ReturnType<typeof callCancel>>> {
  const { companyId, userId, dispatchId, stepId, service, configuredBy, sandbox, remoteId } = step
  const configuration = configurationUsed(await parts.configurations.latest(companyId), {
    providerCode: provider.code,
    configuredBy,
    userId
  })
  if (configuration === undefined) {
    const message = `The configuration of the provider "${provider.code}" has been removed: nobody can be asked.`
    throw new DispatchError('configuration_missing', message, { dispatchId })
  }
  const subject = { companyId, dispatchId, provider, sandbox, requestSettings: {}, reference: stepId, idempotencyKey: `cancel:${stepId}` }
  return callCancel(provider, service, { id: remoteId }, callContextOf(parts, subject, configuration, {
    holds: () => parts.leases.isHeld(runId),
    documents: { read: () => Promise.reject(new TypeError('A cancellation has no document.')), keep: parts.spool.keep },
    checkpoint: { save: () => Promise.reject(new TypeError('A cancellation has no checkpoint.')) }
  }))
}

/** What the client is told of a vendor that has not taken something back. */
function refusedCancellation ({ outcome, error }: FailedCall, dispatchId: string): DispatchError {
  if (error.word === 'provider_error') {
    return new DispatchError('conflict', `The provider does not take it back: ${error.message}`, { dispatchId })
  }
  const end = outcome === 'uncertain' ? 'It may have been taken back; asking once more is safe.' : ''
  return new DispatchError(error.word, `${error.message} ${end}`.trim(), { dispatchId })
}
