import { compile, DocumentHandle } from '@dispatch/common'
import type { ServiceName } from '@dispatch/services'
import { Type } from 'typebox'
import type { InstalledProvider } from '../load/load.ts'
import type { Received } from '../manifest/definition.ts'
import type { CallContext, CallLimits } from './invoke.ts'
import { queryProvider, type QueryResult } from './query.ts'

/** What a provider lists at once. */
export type ReceivedList = { received: readonly Received[], cursor: string, more: boolean }

/** So many e-invoices are listed at once. A provider that lists more is asked for nothing, so that none is left out. */
const maxListed = 1_000

const fitList = compile(Type.Object({
  received: Type.Array(
    Type.Object({
      // Its own copy is found by it: an id with a space or a control character is none of a vendor.
      id: Type.String({ pattern: '^[^\\s\\u0000-\\u001f\\u007f]{1,200}$' }),
      at: Type.Optional(
        Type.String({ pattern: '^\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d(:\\d\\d([.]\\d+)?)?(Z|[+-]\\d\\d:\\d\\d)$', maxLength: 40 })
      )
    }, { additionalProperties: false }),
    { maxItems: maxListed }
  ),
  cursor: Type.String({ minLength: 1, maxLength: 1_000 }),
  more: Type.Boolean()
}, { additionalProperties: false }))
const fitHandle = compile(DocumentHandle)

/** Lists the e-invoices that a vendor has received. Throws only when the provider does not have the verb. */
export function callReceived (
  installed: InstalledProvider,
  service: ServiceName,
  request: { since: string, cursor?: string },
  context: CallContext,
  limits?: CallLimits
): Promise<QueryResult<ReceivedList>> {
  return queryProvider(installed, service, { verb: 'received', request, read: (returned) => fitList(returned) }, context, limits)
}

/** Fetches the file of one, as a stream. Throws only when the provider does not have the verb. */
export function callReceivedFile (
  installed: InstalledProvider,
  service: ServiceName,
  request: { id: string },
  context: CallContext,
  limits?: CallLimits
): Promise<QueryResult<DocumentHandle>> {
  const query = { verb: 'receivedFile', request, read: (returned: unknown) => fitHandle(returned), unreadable: 'is no document.' } as const
  return queryProvider(installed, service, query, context, limits)
}
