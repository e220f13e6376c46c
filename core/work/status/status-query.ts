import type { DeliveryStatus } from '@dispatch/contract'
import type { Freshness } from '@dispatch/database'
import { callStatus, type InstalledProvider, type Reported, statusOf } from '@dispatch/host'
import type { DocumentSpool } from '@dispatch/vendor-io'
import { configurationUsed } from '../../configuration/sandbox.ts'
import { servingIn } from '../../configuration/serving.ts'
import { callContextOf } from '../../pipeline/run/call.ts'
import type { Configurations } from '../../store/configuration/configurations.ts'
import type { TrackedStep } from '../../store/vendor/deliveries.ts'

/** What the vendor reported, and the delivery status that it means (null: unknown); or why there is no answer. */
export type StatusQueryResult = { ok: true, reported: Reported, status: DeliveryStatus | null } | { ok: false, why: string }

/** Asks a vendor for the status of a step, with the configuration that the step was dispatched with. */
export type StatusQuery = (provider: InstalledProvider, step: TrackedStep) => Promise<StatusQueryResult>

type Options =
  & Parameters<typeof callContextOf>[0]
  & { freshness: Freshness, configurations: Configurations, spool: DocumentSpool }

/** Asks vendors for the status of what they have taken. A question that cannot be asked is answered with its reason, not thrown. */
export function createStatusQuery (options: Options): StatusQuery {
  const { freshness, configurations, spool } = options
  return async (installed, { companyId, userId, dispatchId, stepId, service, configuredBy, sandbox, remoteId }) => {
    await freshness.check()
    const used = configurationUsed(await configurations.of(companyId), { providerCode: installed.code, configuredBy, userId })
    if (used === undefined) return { ok: false, why: `The configuration of the provider "${installed.code}" has been removed.` }
    const { provider, configuration } = servingIn(options.keyring, companyId, installed, used)
    const statuses = provider.manifest.services[service]?.statuses
    if (statuses === undefined) return { ok: false, why: `The provider "${provider.code}" cannot tell the status of "${service}".` }
    const subject = { companyId, dispatchId, provider, service, sandbox, requestSettings: {}, reference: stepId, idempotencyKey: stepId }
    const context = callContextOf(options, subject, configuration, {
      documents: { read: () => Promise.reject(new TypeError('There is no document in a question about a status.')), keep: spool.keep },
      checkpoint: { save: () => Promise.reject(new TypeError('A question about a status has no checkpoint.')) }
    })
    const answer = await callStatus(provider, service, { id: remoteId }, context)
    return answer.ok ? { ok: true, reported: answer.value, status: statusOf(statuses, answer.value.status) } : answer
  }
}
