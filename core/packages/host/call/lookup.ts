import { compile, type Fit } from '@dispatch/common'
import type { ServiceName } from '@dispatch/services'
import type { Redactor } from '@dispatch/vendor-io'
import { Type } from 'typebox'
import type { InstalledProvider } from '../load/load.ts'
import type { Found, Idempotency } from '../manifest/definition.ts'
import { type CallContext, type CallLimits, usualTimeLimit } from './invoke.ts'
import { readProviderResponse } from './provider-response.ts'
import { queryProvider, type QueryResult } from './query.ts'

const fitFound = compile(Type.Unsafe<Exclude<Found, { found: 'accepted' }> | { found: 'accepted', response: unknown }>(Type.Union([
  Type.Object({ found: Type.Literal('accepted'), response: Type.Unknown() }),
  Type.Object({ found: Type.Literal('rejected'), code: Type.String({ maxLength: 100 }), message: Type.String({ maxLength: 1000 }) }),
  Type.Object({ found: Type.Enum(['draft', 'absent']) })
])))

/** Asks a provider for the outcome of a dispatch whose outcome is not known. Throws only when the provider does not have the verb. */
export function callLookup (
  installed: InstalledProvider,
  service: ServiceName,
  request: { reference: string, checkpoint?: string },
  context: CallContext,
  limits?: CallLimits
): Promise<QueryResult<Found>> {
  const read = (returned: unknown, redact: Redactor): Fit<Found> => readFound(service, returned, redact)
  return queryProvider(installed, service, { verb: 'lookup', request, read }, context, limits)
}

function readFound (service: ServiceName, returned: unknown, redact: Redactor): Fit<Found> {
  const fit = fitFound(returned)
  if (!fit.ok) return fit
  const { value: found } = fit
  if (found.found === 'rejected') {
    return { ok: true, value: { ...found, code: redact.text(found.code), message: redact.text(found.message) } }
  }
  if (found.found !== 'accepted') return { ok: true, value: found }
  const answer = readProviderResponse(service, found.response)
  return answer.ok
    ? { ok: true, value: { found: 'accepted', response: { ...redact.json(answer.value), id: redact.id(answer.value.id) } } }
    : answer
}

/**
 * After how many seconds a look-up that finds nothing proves that nothing was accepted. The seconds count from the end of the call's lease,
 * or from an uncertain answer. By then every request of the call has ended, and its result is visible at the vendor. Infinity where the
 * provider declares no such time.
 */
export function missCountsAfter ({ idempotency, timeLimit = usualTimeLimit }: { idempotency: Idempotency, timeLimit?: number }): number {
  switch (idempotency.kind) {
    case 'lookup':
      return timeLimit + idempotency.visibleAfter
    case 'key':
      return timeLimit + idempotency.ttl
    case 'none':
      return Infinity
  }
}
