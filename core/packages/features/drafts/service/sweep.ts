import type { Log } from '@dispatch/common'
import { runEvery } from '@dispatch/queue'
import type { Drafts } from './drafts.ts'

/** Milliseconds between two looks for old drafts. */
const every = 3_600_000

/** Removes old drafts, now and every hour. */
export function sweepDrafts ({ drafts, log }: { drafts: Drafts, log: Log }): AsyncDisposable {
  const sweeping = runEvery(every, drafts.sweep, (err) => {
    log.warn({ err }, 'old drafts could not be removed')
  })
  return { [Symbol.asyncDispose]: sweeping.close }
}
