import type { ServiceName } from '../../contract/service-names.ts'
import type { InstalledProvider } from '../load/load.ts'
import type { ServiceContracts } from '../manifest/contracts.ts'
import type { Accepted } from '../manifest/definition.ts'
import { type CallContext, type CallLimits, type FailedCall, failedCall, invoke } from './invoke.ts'
import { readProviderResponse } from './provider-response.ts'

export type { CallContext, CallLimits, FailedCall } from './invoke.ts'

/** What a dispatch came to. `unavailable`: certainly not accepted. `uncertain`: it may have been. */
export type Outcome = { outcome: 'accepted', response: Accepted } | FailedCall

/**
 * Asks a provider to dispatch. Whatever it does becomes an outcome: what is not clearly an acceptance, a refusal or a
 * failure before anything was sent is `uncertain`. Throws only when the provider has no such service.
 */
export async function callDispatch<Name extends ServiceName> (
  installed: InstalledProvider,
  service: Name,
  request: ServiceContracts[Name]['dispatch'],
  context: CallContext,
  limits: CallLimits = {}
): Promise<Outcome> {
  const called = await invoke(installed, service, 'dispatch', request, context, limits)
  if ('outcome' in called) return called
  const { returned, redact } = called
  const answer = readProviderResponse(service, returned)
  if (answer.ok) return { outcome: 'accepted', response: { ...redact.json(answer.value), id: answer.value.id } }
  const why = answer.problems.map(({ path, message }) => `${path} ${message}`.trim()).join(' ')
  return failedCall('outcome_unknown', redact.text(`The answer of the provider "${installed.code}" cannot be read: ${why}`), { ours: true })
}
