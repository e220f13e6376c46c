import { DispatchError } from '../../contract/errors.ts'
import { DatabaseUnavailable } from '../../store/db/unavailable.ts'
import type { Run } from './run.ts'

type Recorded = Pick<Run, 'dispatchId'>

/**
 * Waits until a dispatch is recorded; `begun` is called when it is, or may be. Throws `recording_unknown` when that is not known.
 */
export async function untilRecorded<T> (dispatch: Recorded, opened: Promise<T>, begun: () => void): Promise<T> {
  try {
    const done = await opened
    begun()
    return done
  } catch (error) {
    const cause = error instanceof DatabaseUnavailable && error.doubtful ? recordingUnknown(dispatch, error) : error
    if (cause instanceof DispatchError && cause.word === 'recording_unknown') begun()
    throw cause
  }
}

/** A statement that is under way ends within seconds, one way or the other. */
export function recordingUnknown ({ dispatchId }: Recorded, cause?: unknown): DispatchError {
  const message =
    `Whether the request is recorded is not known yet: GET /api/v1/dispatches/${dispatchId} tells in a minute. If it is, the ` +
    'dispatch goes on; if not, nothing was sent. The same idempotency key is safe to use again.'
  return new DispatchError('recording_unknown', message, { dispatchId, cause })
}

/** A run that has lost its lease has not lost its dispatch: it goes on with whoever has it now, or once the database is back. */
export function leftToAnother ({ dispatchId }: Recorded, error: unknown): never {
  const goesOn = error instanceof DatabaseUnavailable || (error instanceof DispatchError && error.word === 'conflict')
  throw goesOn ? elsewhere(dispatchId, error) : error
}

export function elsewhere (dispatchId: string, cause: unknown): DispatchError {
  return new DispatchError('timeout', `The dispatch goes on in another process; read it with GET /api/v1/dispatches/${dispatchId}.`, {
    dispatchId,
    cause
  })
}
