import { createFairSemaphore } from '@dispatch/common'
import { DispatchError } from '../contract/errors.ts'

/** Runs work with passwords when it is the turn of its client. Throws `rate_limited` when more of them waits than can be done soon. */
export type PasswordSemaphore = <Result>(client: string, work: () => Promise<Result>) => Promise<Result>

/** About half a second of work with passwords: who waits longer is better told to come again. */
const mostWaiting = 100

/** Bounds work with passwords, which takes memory and libuv's threads: one at a time, and clients take turns. */
export function createPasswordSemaphore (): PasswordSemaphore {
  const semaphore = createFairSemaphore(mostWaiting, 1, 1)
  return async (client, work) => {
    const release = await semaphore.acquire(client)
    if (release === undefined) {
      throw new DispatchError('rate_limited', 'More passwords are being worked on than there is room for: try again in a second.', {
        retryAfter: 1
      })
    }
    return work().finally(release)
  }
}
