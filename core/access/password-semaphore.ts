import { createFairSemaphore } from '@dispatch/common'
import { DispatchError } from '../contract/errors.ts'
import { waitingClient } from './waiting-client.ts'

/** Measures how long a password takes; what stands around it, such as the counts in the database, is not of this machine. */
export type Timed = <Result>(hashing: () => Promise<Result>) => Promise<Result>

/**
 * Runs password work when its owner has a permit. Throws `rate_limited` when the queue is full, and the reason of its signal where the
 * client has gone before its turn.
 */
export type PasswordSemaphore = <Result>(owner: number | string, work: (timed: Timed) => Promise<Result>) => Promise<Result>

/** Milliseconds: nobody is let into a queue that takes longer. Who is refused comes again. */
const longestWait = 2_000
/** Milliseconds that a password takes, until the first was measured. */
const assumed = 20
/** How much the last measurement counts. */
const weight = 0.1

/**
 * Limits password work, which uses memory and libuv's threads: one at a time, with owners in round-robin order. The queue of all together
 * is as long as is done in two seconds, by the time that passwords take on this machine. `now`: milliseconds of a clock that only counts.
 */
export function createPasswordSemaphore (now: () => number = () => performance.now()): PasswordSemaphore {
  let took: number | undefined
  const semaphore = createFairSemaphore({
    waiting: Infinity,
    waitingInAll: () => Math.ceil(longestWait / Math.max(took ?? assumed, 1)),
    total: 1,
    full: () =>
      new DispatchError('rate_limited', 'Too many passwords are being checked: try again in some seconds.', {
        retryAfter: longestWait / 1000
      })
  })
  const timed: Timed = async (hashing) => {
    const begun = now()
    try {
      return await hashing()
    } finally {
      const measured = now() - begun
      took = took === undefined ? measured : took + (measured - took) * weight
    }
  }
  return (owner, work) => {
    const client = waitingClient()
    client?.waits()
    return semaphore.run(owner, () => work(timed), client?.gone)
  }
}
