import pLimit from 'p-limit'
import { DispatchError } from '../contract/errors.ts'

/** Runs work when it is its turn. Throws `rate_limited` when more waits than can be done soon. */
export type Turns = <Result>(work: () => Promise<Result>) => Promise<Result>

/** About half a second of work with passwords: who waits longer is better told to come again. */
const mostWaiting = 100

/** Bounds work with passwords, which takes memory and libuv's threads: so many `atOnce`, the others in their order. */
export function createTurns (atOnce: number): Turns {
  const limit = pLimit(atOnce)
  return async (work) => {
    if (limit.pendingCount >= mostWaiting) throw new DispatchError('rate_limited', 'More passwords are being worked on than there is room for: try again in a second.', { retryAfter: 1 })
    return limit(work)
  }
}
