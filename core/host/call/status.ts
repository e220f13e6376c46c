import { compile } from '@dispatch/common'
import { Type } from 'typebox'
import type { DeliveryService } from '../../contract/delivery.ts'
import type { InstalledProvider } from '../load/load.ts'
import type { Reported } from '../manifest/definition.ts'
import { type CallContext, type CallLimits, invoke } from './invoke.ts'
import { copyJson } from './provider-response.ts'

/** What the vendor said about a step, or why it said nothing. */
export type StatusResult = { ok: true, reported: Reported } | { ok: false, why: string }

const fitReported = compile(Type.Unsafe<Reported>(Type.Object({ status: Type.String({ minLength: 1, maxLength: 200 }) })))

/** Asks a provider what became of what its vendor accepted under an id. Throws only when the provider has no such verb. */
export async function callStatus (
  installed: InstalledProvider,
  service: DeliveryService,
  query: { id: string },
  context: CallContext,
  limits: CallLimits = {}
): Promise<StatusResult> {
  const called = await invoke(installed, service, 'status', query, context, limits)
  if ('outcome' in called) return { ok: false, why: called.error.message }
  const { returned, redact } = called
  const copied = copyJson(returned)
  const fit = copied.ok ? fitReported(copied.value) : copied
  if (fit.ok) return { ok: true, reported: redact.json(fit.value) }
  return {
    ok: false,
    why: redact.text(`The answer of the provider "${installed.code}" cannot be read: ` +
      fit.problems.map(({ path, message }) => `${path} ${message}`.trim()).join(' '))
  }
}
