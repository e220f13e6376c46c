import type { InstalledProvider } from '../load/load.ts'
import { type CallContext, type CallLimits, invokeFunction } from './invoke.ts'
import { readingOnly } from './reading-only.ts'

/** Whether credentials work: the vendor's own answer, or why there is none. `code` is the vendor's. */
export type CheckResult =
  | { result: 'ok' }
  | { result: 'failed' | 'cannot_be_checked', code?: string, message: string }

/** The time limit in milliseconds for a check: a person is waiting. */
const usualLimit = 15_000

/** Asks the vendor whether the credentials of a configuration work. Nothing is changed there: it is read by GET, or signed in at. */
export async function callCheck (
  installed: InstalledProvider,
  context: CallContext,
  limits: CallLimits = { limit: usualLimit }
): Promise<CheckResult> {
  const { code, check } = installed
  if (check === undefined) return { result: 'cannot_be_checked', message: `The provider "${code}" has no check of its credentials.` }
  const called = await invokeFunction(installed, { run: check, passed: false, ways: readingOnly(`The check of the provider "${code}"`) },
    undefined, context, limits)
  if (!('outcome' in called)) return { result: 'ok' }
  const { outcome, error: { code: vendorCode, message } } = called
  return {
    result: outcome === 'rejected' ? 'failed' : 'cannot_be_checked',
    ...(vendorCode !== undefined && { code: vendorCode }),
    message
  }
}
