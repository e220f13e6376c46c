import type { DeliveryService } from '@dispatch/contract'
import { copyJson } from '../contain/plain-json.ts'
import type { InstalledProvider } from '../load/load.ts'
import type { Reported } from '../manifest/definition.ts'
import { type CallContext, type FailedCall, invoke, unusable } from './invoke.ts'
import { readReported } from './reported.ts'

/** `cancelled`: the verb returned. Its status says whether the vendor has taken the dispatch back. */
export type CancelResult = { outcome: 'cancelled', reported: Reported } | FailedCall

/** Asks a provider to take back what its vendor accepted under an id. Throws only when the provider does not have the verb. */
export async function callCancel (
  installed: InstalledProvider,
  service: DeliveryService,
  query: { id: string },
  context: CallContext
): Promise<CancelResult> {
  const called = await invoke(installed, service, 'cancel', query, context)
  if ('outcome' in called) return called
  const { returned, redact } = called
  const copied = copyJson(returned)
  const fit = copied.ok ? readReported(copied.value, redact) : copied
  return fit.ok
    ? { outcome: 'cancelled', reported: fit.value }
    : unusable(called, `The answer of the provider "${installed.code}" to a cancellation cannot be read.`)
}
