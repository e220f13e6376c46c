import type { Fit, Problem } from '@dispatch/common'
import type { ServiceName } from '@dispatch/services'
import type { Redactor } from '@dispatch/vendor-io'
import { copyJson } from '../contain/plain-json.ts'
import type { InstalledProvider } from '../load/load.ts'
import type { VerbName } from '../manifest/verbs.ts'
import { type CallContext, type CallLimits, invoke } from './invoke.ts'

/** A provider's answer to a query, or why there is none. `passes`: it may be there later, when the vendor is back or is set up again. */
export type QueryResult<Value> = { ok: true, value: Value } | { ok: false, why: string, passes?: true }

type Query<Value> = {
  verb: Exclude<VerbName, 'dispatch' | 'cancel' | 'say' | 'recipients' | 'subscribe' | 'unsubscribe'>
  request: unknown
  /** Checks the plain JSON that the provider returned. `redact` removes the secrets of the call. */
  read: (returned: unknown, redact: Redactor) => Fit<Value>
  /** The end of the sentence about an unreadable answer, after the name of the provider. */
  unreadable?: string
}

/** Calls a verb that changes nothing at the vendor. Throws only when the provider does not have the verb. */
export async function queryProvider<Value> (
  installed: InstalledProvider,
  service: ServiceName,
  { verb, request, read, unreadable }: Query<Value>,
  context: CallContext,
  limits: CallLimits = {}
): Promise<QueryResult<Value>> {
  const called = await invoke(installed, service, verb, request, context, limits)
  if ('outcome' in called) {
    const { word, message: why, ours } = called.error
    return { ok: false, why, ...(word !== 'provider_error' && ours !== true && { passes: true }) }
  }
  const { returned, redact } = called
  const copied = copyJson(returned)
  const fit = copied.ok ? read(copied.value, redact) : copied
  if (fit.ok) return fit
  const trouble = unreadable ?? `cannot be read: ${inWords(fit.problems)}`
  return { ok: false, why: redact.text(`The answer of the provider "${installed.code}" ${trouble}`) }
}

function inWords (problems: readonly Problem[]): string {
  return problems.map(({ path, message }) => `${path} ${message}`.trim()).join(' ')
}
