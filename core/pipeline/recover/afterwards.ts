import type { Log } from '@dispatch/common'
import { DispatchError } from '@dispatch/contract'
import type { Database } from '@dispatch/database'
import type { CallContext, Host, InstalledProvider } from '@dispatch/host'
import { configurationUsed } from '../../configuration/sandbox.ts'
import type { DispatchRecord } from '../../store/dispatch/dispatch-views.ts'
import { acquireLease, releaseLease } from '../../store/dispatch/runs.ts'
import type { TrackedStep } from '../../store/vendor/deliveries.ts'
import type { PipelineJobs } from '../jobs.ts'
import type { Outbox } from '../outbox.ts'
import type { RecipientBook } from '../recipients.ts'
import { type BareCallDependencies, callContextOf } from '../run/call.ts'
import type { Leases } from '../run/leases.ts'

/** What a call about an accepted step needs: to take it back, or to state its status. */
export type AfterwardsDependencies = BareCallDependencies & {
  host: Host
  jobs: PipelineJobs
  recipients: readonly RecipientBook[]
  outbox: Outbox
}

/**
 * Works on an ended dispatch under its lease, while nobody else does. `busy`: another run has it, and nothing was done.
 */
export async function whileHeld<Result> (
  { database, leases, log }: { database: Database, leases: Leases, log: Log },
  { company_id: companyId, dispatch_id: dispatchId, status }: DispatchRecord,
  work: (runId: string) => Promise<Result>
): Promise<Result | 'busy'> {
  const ref = { companyId, dispatchId }
  return leases.withLease(async (lease) => {
    const taken = await acquireLease(database, ref, { lease, from: [status] })
    if (taken === undefined) return 'busy'
    try {
      return await work(lease.runId)
    } finally {
      // What the client is told of the vendor counts more: a lease that is not given back runs out.
      await releaseLease(database, ref, lease.runId).catch((error: unknown) => {
        log.warn({ err: error, ...ref }, 'the lease of an ended dispatch could not be given back')
      })
    }
  })
}

/** Says that another run has the dispatch. */
export function busyError (dispatchId: string): DispatchError {
  return new DispatchError('conflict', 'The dispatch is being worked on: try again in a moment.', { reason: 'being_done', dispatchId })
}

/** The context of a call about an accepted step, without a document. Throws `configuration_missing` when its provider has been removed. */
export async function contextAfterwards (
  dependencies: BareCallDependencies,
  { step, provider }: { step: TrackedStep, provider: InstalledProvider },
  { runId, ...subject }: { runId: string } & Pick<CallContext, 'reference' | 'idempotencyKey'>
): Promise<CallContext> {
  const { companyId, userId, dispatchId, service, configuredBy, sandbox } = step
  const configuration = configurationUsed(await dependencies.configurations.latest(companyId), {
    providerCode: provider.code,
    configuredBy,
    userId
  })
  if (configuration === undefined) {
    const message = `The configuration of the provider "${provider.code}" has been removed: nobody can be asked.`
    throw new DispatchError('configuration_missing', message, { dispatchId })
  }
  return callContextOf(dependencies, { companyId, dispatchId, provider, service, sandbox, requestSettings: {}, ...subject }, configuration,
    {
      holds: () => dependencies.leases.isHeld(runId),
      documents: { read: () => Promise.reject(new TypeError('A call after the dispatch has no document.')), keep: dependencies.spool.keep },
      checkpoint: { save: () => Promise.reject(new TypeError('A call after the dispatch has no checkpoint.')) }
    })
}
