import type { Fit, Problem } from '@dispatch/common'
import type { ServiceName } from '../../contract/service-names.ts'
import type { InstalledProvider } from '../load/load.ts'
import type { VerbName } from '../manifest/verbs.ts'
import { type CallContext, type CallLimits, invoke } from './invoke.ts'
import { copyJson } from './provider-response.ts'
import type { Redactor } from './redact.ts'

/** What a provider answered to a question, or why it said nothing. */
export type QueryResult<Value> = { ok: true, value: Value } | { ok: false, why: string }

type Query<Value> = {
  verb: Exclude<VerbName, 'dispatch' | 'cancel'>
  request: unknown
  /** Checks plain JSON that the provider returned; `redact` takes the call's secrets out of it. */
  read: (returned: unknown, redact: Redactor) => Fit<Value>
  /** How the sentence about what cannot be read goes on after the name of the provider. */
  unreadable?: string
}

/** Asks a provider something that changes nothing at its vendor. Throws only when the provider has no such verb. */
export async function queryProvider<Value> (
  installed: InstalledProvider,
  service: ServiceName,
  { verb, request, read, unreadable }: Query<Value>,
  context: CallContext,
  limits: CallLimits = {}
): Promise<QueryResult<Value>> {
  const called = await invoke(installed, service, verb, request, context, limits)
  if ('outcome' in called) return { ok: false, why: called.error.message }
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
