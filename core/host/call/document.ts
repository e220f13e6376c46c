import { compile } from '@dispatch/common'
import { DocumentHandle } from '../../contract/common.ts'
import type { ServiceName } from '../../contract/service-names.ts'
import type { InstalledProvider } from '../load/load.ts'
import { type CallContext, type CallLimits, invoke } from './invoke.ts'
import { copyJson } from './provider-response.ts'

/** The vendor's document, or why there is none. */
export type DocumentResult = { ok: true, document: DocumentHandle } | { ok: false, why: string }

const fitHandle = compile(DocumentHandle)

/** Fetches the vendor's document of what it accepted under an id; it is on its way then. Throws only when the provider has no such verb. */
export async function callDocument (
  installed: InstalledProvider,
  service: ServiceName,
  query: { id: string },
  context: CallContext,
  limits: CallLimits = {}
): Promise<DocumentResult> {
  const called = await invoke(installed, service, 'document', query, context, limits)
  if ('outcome' in called) return { ok: false, why: called.error.message }
  const copied = copyJson(called.returned)
  const fit = copied.ok ? fitHandle(copied.value) : copied
  return fit.ok ? { ok: true, document: fit.value } : { ok: false, why: `The answer of the provider "${installed.code}" is no document.` }
}
