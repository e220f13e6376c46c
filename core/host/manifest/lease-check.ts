import { RequestFailure } from '../call/request-outcome.ts'

/** Whether a caller still has what it calls for; asked just before something leaves. */
export type LeaseCheck = () => boolean

/** Nothing leaves for a caller that has lost what it calls for. Throws a {@link RequestFailure}. */
export function requireLease (holds: LeaseCheck): void {
  if (!holds()) {
    throw new RequestFailure('not done',
      'The request was not sent: this process stood still for too long, and another one may have taken the dispatch over.', { ours: true })
  }
}

/** The pieces of a body, none of them sooner than it can be sent, nor for a caller that has lost what it calls for. */
export async function* piecesUnderLease (pieces: AsyncIterable<Buffer>, holds: LeaseCheck): AsyncGenerator<Buffer> {
  for await (const piece of pieces) {
    requireLease(holds)
    yield piece
  }
  // What was there has been taken: the end is told next.
  requireLease(holds)
}
