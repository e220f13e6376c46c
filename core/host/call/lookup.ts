import { compile } from '@dispatch/common'
import { Type } from 'typebox'
import type { ServiceName } from '../../contract/service-names.ts'
import type { InstalledProvider } from '../load/load.ts'
import type { Found, Idempotency } from '../manifest/definition.ts'
import { type CallContext, type CallLimits, invoke, usualTimeLimit } from './invoke.ts'
import { copyJson, readProviderResponse } from './provider-response.ts'

/** What a look-up found, or why it said nothing. */
export type LookupResult = { ok: true, found: Found } | { ok: false, why: string }

const fitFound = compile(Type.Unsafe<Exclude<Found, { found: 'accepted' }> | { found: 'accepted', response: unknown }>(Type.Union([
  Type.Object({ found: Type.Literal('accepted'), response: Type.Unknown() }),
  Type.Object({ found: Type.Literal('rejected'), code: Type.String({ maxLength: 100 }), message: Type.String({ maxLength: 1000 }) }),
  Type.Object({ found: Type.Enum(['draft', 'absent']) })
])))

/** Asks a provider what became of a dispatch whose outcome is not known. Throws only when the provider has no such verb. */
export async function callLookup (
  installed: InstalledProvider,
  service: ServiceName,
  query: { reference: string, checkpoint?: string },
  context: CallContext,
  limits: CallLimits = {}
): Promise<LookupResult> {
  const called = await invoke(installed, service, 'lookup', query, context, limits)
  if ('outcome' in called) return { ok: false, why: called.error.message }
  const { returned, redact } = called
  const copied = copyJson(returned)
  const fit = copied.ok ? fitFound(copied.value) : copied
  if (!fit.ok) return unreadable(installed, fit.problems[0]?.message ?? '')
  if (fit.value.found !== 'accepted') {
    return {
      ok: true,
      found: fit.value.found === 'rejected'
        ? { ...fit.value, code: redact.text(fit.value.code), message: redact.text(fit.value.message) }
        : fit.value
    }
  }
  const answer = readProviderResponse(service, fit.value.response)
  return answer.ok
    ? { ok: true, found: { found: 'accepted', response: { ...redact.json(answer.value), id: answer.value.id } } }
    : unreadable(installed, answer.problems[0]?.message ?? '')
}

/**
 * Seconds after the lease of a call has ended, or its answer was in doubt, from which on a look-up that finds nothing says that
 * nothing was accepted: what had begun by then has ended, and what it brought about can be seen. Never where nobody has declared when.
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

function unreadable ({ code }: InstalledProvider, why: string): LookupResult {
  return { ok: false, why: `The answer of the provider "${code}" to a look-up cannot be read: ${why}` }
}
