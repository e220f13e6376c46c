import { askOf, httpOf } from '../http/ask.ts'
import type { InstalledProvider } from '../load/load.ts'
import type { CallApis } from './call-resources.ts'
import { failureError } from './failure.ts'
import { type CallContext, type CallLimits, invokeFunction } from './invoke.ts'

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
  const called = await invokeFunction(installed, { run: check, passed: false, ways: (ways) => readingOnly(ways, code) }, undefined, context,
    limits)
  if (!('outcome' in called)) return { result: 'ok' }
  const { outcome, error: { code: vendorCode, message } } = called
  return {
    result: outcome === 'rejected' ? 'failed' : 'cannot_be_checked',
    ...(vendorCode !== undefined && { code: vendorCode }),
    message
  }
}

/** Ways out that read and change nothing. */
function readingOnly (ways: CallApis, code: string): CallApis {
  const refuse = (what: string): Promise<never> =>
    Promise.reject(failureError({
      word: 'provider_unavailable',
      message: `The check of the provider "${code}" wanted ${what}, but a check only reads.`,
      ours: true
    }))
  const ask = askOf(ways.http)
  return {
    ...ways,
    http: httpOf((method, url, call, fits) => method === 'GET' ? ask(method, url, call, fits) : refuse(`to ${method}`),
      () => refuse('to keep a document')),
    smtp: { ...ways.smtp, send: () => refuse('to send an e-mail') },
    documents: { ...ways.documents, compose: () => refuse('to make an e-mail') },
    files: { put: () => refuse('to write a file') }
  }
}
