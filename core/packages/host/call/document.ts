import { compile, DocumentHandle } from '@dispatch/common'
import type { ServiceName } from '@dispatch/services'
import type { InstalledProvider } from '../load/load.ts'
import type { CallContext, CallLimits } from './invoke.ts'
import { queryProvider, type QueryResult } from './query.ts'

const fitHandle = compile(DocumentHandle)

/** Fetches the vendor's document of what it accepted under an id, as a stream. Throws only when the provider does not have the verb. */
export function callDocument (
  installed: InstalledProvider,
  service: ServiceName,
  request: { id: string },
  context: CallContext,
  limits?: CallLimits
): Promise<QueryResult<DocumentHandle>> {
  return queryProvider(installed, service, {
    verb: 'document',
    request,
    read: (returned) => fitHandle(returned),
    unreadable: 'is no document.'
  }, context, limits)
}
