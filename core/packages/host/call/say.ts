import { type DeliveryService, isDeliveryService } from '@dispatch/contract'
import type { ServiceName } from '@dispatch/services'
import type { InstalledProvider } from '../load/load.ts'
import type { Accepted, Said } from '../manifest/definition.ts'
import { type CallContext, type FailedCall, invoke, unusable } from './invoke.ts'
import { callLookup, missCountsAfter } from './lookup.ts'
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

/** What a vendor says of a message. `absent`: it certainly has not got it, and does not get it any more. */
export type SaidKnown = { is: 'there', remoteId: string } | { is: 'refused' | 'absent' | 'unknown', message: string }

/** Finds out what became of something that was said. `since`: the seconds since it was last said. */
export async function lookUpSaid (
  installed: InstalledProvider,
  service: DeliveryService,
  { statusId, since }: { statusId: string, since: number },
  context: CallContext
): Promise<SaidKnown> {
  const offered = installed.manifest.services[service]
  const answer = await callLookup(installed, service, { reference: statusId }, context)
  if (!answer.ok) return { is: 'unknown', message: answer.why }
  const { value: found } = answer
  if (found.found === 'accepted') return { is: 'there', remoteId: found.response.id }
  if (found.found === 'rejected') return { is: 'refused', message: found.message }
  const left = offered === undefined ? Infinity : missCountsAfter(offered) - since
  return left > 0
    ? { is: 'unknown', message: 'The provider has not got it yet, and may still get it.' }
    : { is: 'absent', message: 'The provider has not got it: say it again.' }
}
