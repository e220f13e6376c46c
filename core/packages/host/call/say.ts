import { type DeliveryService, isDeliveryService } from '@dispatch/contract'
import type { ServiceName } from '@dispatch/services'
import type { InstalledProvider } from '../load/load.ts'
import type { Accepted, Said } from '../manifest/definition.ts'
import { type CallContext, type FailedCall, invoke, unusable } from './invoke.ts'
import { readProviderResponse } from './provider-response.ts'

/** `said`: the vendor has it. */
export type SayResult = { outcome: 'said', response: Accepted } | FailedCall

/** Whether a provider can say something of what its vendor has accepted. */
export function canSay ({ verbs }: Pick<InstalledProvider, 'verbs'>, service: ServiceName): service is DeliveryService {
  return isDeliveryService(service) && verbs[service]?.say !== undefined
}

/** Has a provider say something of what its vendor has accepted. Throws only when the provider does not have the verb. */
export async function callSay (
  installed: InstalledProvider,
  service: DeliveryService,
  said: Said,
  context: CallContext
): Promise<SayResult> {
  const called = await invoke(installed, service, 'say', said, context)
  if ('outcome' in called) return called
  const { returned, redact } = called
  const answer = readProviderResponse(service, returned)
  return answer.ok
    ? { outcome: 'said', response: { ...redact.json(answer.value), id: redact.id(answer.value.id) } }
    : unusable(called, `The answer of the provider "${installed.code}" to a status cannot be read.`)
}
