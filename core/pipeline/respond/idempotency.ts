import { hash } from 'node:crypto'
import type { KeyMode } from '../../access/account.ts'
import { DispatchError } from '../../contract/errors.ts'
import type { Database } from '../../store/db/database.ts'
import { type DispatchRecord, findDispatch } from '../../store/dispatch/dispatch-views.ts'

export type IdempotencyKey = { key: string, fingerprint: string }

/**
 * A key as it is bound: to the services in the path and the body, whatever its white space; a test is another request than what it tests.
 */
export function fingerprintOf (services: readonly string[], body: unknown, mode: KeyMode): string {
  return hash('sha256', `${mode === 'test' ? 'test ' : ''}${services.join('/')}\n${JSON.stringify(body)}`)
}

/**
 * The dispatch that a repeated request means. Throws `idempotency_key_reused` when the request is another one, and
 * `idempotency_in_progress` while the first client still waits for its answer.
 */
export async function repeatedDispatch (
  database: Database,
  companyId: number,
  given: IdempotencyKey,
  bound: { fingerprint: string, dispatchId: string }
): Promise<DispatchRecord> {
  const { dispatchId } = bound
  if (bound.fingerprint !== given.fingerprint) {
    throw new DispatchError('idempotency_key_reused',
      'This idempotency key was used with another request: take a new key for a new request.', { dispatchId })
  }
  const record = await findDispatch(database, companyId, dispatchId)
  if (record === undefined) throw new Error(`The dispatch ${dispatchId} of an idempotency key is gone.`)
  if (record.status === 'running' && !record.detached) throw inProgress(dispatchId)
  return record
}

export function inProgress (dispatchId: string): DispatchError {
  return new DispatchError('idempotency_in_progress',
    'The first request with this idempotency key is still running; ask again in a moment.', { dispatchId })
}

/** Whether a repeat lets a dispatch go on: nothing of it was sent. */
export function isResumable (record: DispatchRecord): boolean {
  return record.status === 'failed' && record.data !== null && record.steps.some(({ status }) => status === 'unavailable')
}
