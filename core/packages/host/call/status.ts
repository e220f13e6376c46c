import type { DeliveryService } from '@dispatch/contract'
import type { InstalledProvider } from '../load/load.ts'
import type { Reported } from '../manifest/definition.ts'
import type { CallContext, CallLimits } from './invoke.ts'
import { queryProvider, type QueryResult } from './query.ts'
import { readReported } from './reported.ts'

/** Asks a provider for the status of what its vendor accepted under an id. Throws only when the provider does not have the verb. */
export function callStatus (
  installed: InstalledProvider,
  service: DeliveryService,
  request: { id: string },
  context: CallContext,
  limits?: CallLimits
): Promise<QueryResult<Reported>> {
  return queryProvider(installed, service, { verb: 'status', request, read: readReported }, context, limits)
}
