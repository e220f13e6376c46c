import type { ServiceContracts, ServiceName } from '@dispatch/services'
import type { InstalledProvider } from '../load/load.ts'
import type { Accepted } from '../manifest/definition.ts'
import { type CallContext, type CallLimits, type FailedCall, invoke, unusable } from './invoke.ts'
import { readProviderResponse } from './provider-response.ts'

export type { CallContext, CallLimits, FailedCall } from './invoke.ts'

/** The outcome of a dispatch. `unavailable`: certainly not accepted. `uncertain`: perhaps accepted. */
export type Outcome = { outcome: 'accepted', response: Accepted } | FailedCall

/**
 * Asks a provider to dispatch. Each result becomes an outcome. Whatever is not clearly an acceptance, a refusal or a failure before the
 * first byte is `uncertain`, once anything has left the service. Throws only when the provider does not have the service.
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
  if (answer.ok) return { outcome: 'accepted', response: { ...redact.json(answer.value), id: redact.id(answer.value.id) } }
  const why = answer.problems.map(({ path, message }) => `${path} ${message}`.trim()).join(' ')
  return unusable(called, redact.text(`The answer of the provider "${installed.code}" cannot be read: ${why}`))
}
