import { RequestFailure } from './request-outcome.ts'

/** Whether a caller still holds its lease. It is called just before something is sent. */
export type LeaseCheck = () => boolean

/** Prevents sending for a caller that has lost its lease: throws a {@link RequestFailure}. */
export function requireLease (holds: LeaseCheck): void {
  if (!holds()) {
    throw new RequestFailure('not done',
      'The request was not sent: this process was suspended for too long, and another one may have taken over the dispatch.', {
      ours: true
    })
  }
}

/** The pieces of a body. None is read before it can be sent, and none is sent after the caller has lost its lease. */
export async function* piecesUnderLease (pieces: AsyncIterable<Buffer>, holds: LeaseCheck): AsyncGenerator<Buffer> {
  for await (const piece of pieces) {
    requireLease(holds)
    yield piece
  }
  // All pieces have been taken. The end of the body comes next.
  requireLease(holds)
}
