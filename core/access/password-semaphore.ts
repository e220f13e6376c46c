import { createFairSemaphore } from '@dispatch/common'
import { DispatchError } from '../contract/errors.ts'

/** Runs password work when the client has a permit. Throws `rate_limited` when the queue is full. */
export type PasswordSemaphore = <Result>(client: string, work: () => Promise<Result>) => Promise<Result>

/** Queue length: about 0.5 s of password work. A client that would wait for longer is told to try again. */
const mostWaiting = 100

/** Limits password work, which uses memory and libuv's threads: one at a time, with clients in round-robin order. */
export function createPasswordSemaphore (): PasswordSemaphore {
  return createFairSemaphore({
    waiting: mostWaiting,
    total: 1,
    full: () =>
      new DispatchError('rate_limited', 'Too many passwords are being checked: try again in a second.', {
        retryAfter: 1
      })
  }).run
}
