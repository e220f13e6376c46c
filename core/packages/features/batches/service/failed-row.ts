import { DispatchError } from '@dispatch/contract'
import type { OpenWork, RowChange } from '../store/rows.ts'
import type { BatchRow } from '../store/tables.ts'
import type { Needs } from './needs.ts'
import { ref } from './progress.ts'
import { problemOf } from './row.ts'

/** How often a row is tried, 5 seconds apart, where what keeps it back passes. */
const maxTries = 100

/** What passes: the row is tried again. */
const passing: ReadonlySet<string> = new Set(['timeout', 'provider_unavailable', 'service_unavailable', 'recording_unknown',
  'idempotency_in_progress', 'rate_limited', 'internal_error'])

/** The word of an error of a row. */
export const wordOf = (error: unknown): string => error instanceof DispatchError ? error.word : 'internal_error'

/** What becomes of a row that failed: it is tried again where that passes. */
export function failedRow (
  { log }: Pick<Needs, 'log'>,
  batch: BatchRow,
  { number, tries }: OpenWork,
  error: unknown,
  from: 'unchecked' | 'handing'
): RowChange {
  const refused = error instanceof DispatchError ? error : new DispatchError('internal_error', 'A fault of the service itself.')
  if (!(error instanceof DispatchError)) log.warn({ err: error, ...ref(batch), row: number }, 'a row of a batch failed')
  const again = from === 'unchecked' ? 'unchecked' : 'waiting'
  return passing.has(refused.word) && tries < maxTries
    ? { number, from, to: again }
    : { number, from, to: 'refused', problem: JSON.stringify(problemOf(refused)) }
}
