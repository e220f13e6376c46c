import { compile } from '@dispatch/common'
import { Type } from 'typebox'
import type { DeliveryService } from '../../contract/delivery.ts'
import type { InstalledProvider } from '../load/load.ts'
import type { Reported } from '../manifest/definition.ts'
import type { CallContext, CallLimits } from './invoke.ts'
import { queryProvider, type QueryResult } from './query.ts'

const fitReported = compile(Type.Unsafe<Reported>(Type.Object({ status: Type.String({ minLength: 1, maxLength: 200 }) })))

/** Asks a provider for the status of what its vendor accepted under an id. Throws only when the provider does not have the verb. */
export function callStatus (
  installed: InstalledProvider,
  service: DeliveryService,
  request: { id: string },
  context: CallContext,
  limits?: CallLimits
): Promise<QueryResult<Reported>> {
  return queryProvider(installed, service, {
    verb: 'status',
    request,
    read (returned, redact) {
      const fit = fitReported(returned)
      return fit.ok ? { ok: true, value: redact.json(fit.value) } : fit
    }
  }, context, limits)
}
