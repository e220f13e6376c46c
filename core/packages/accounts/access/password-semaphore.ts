import { createFairSemaphore } from '@dispatch/common'
import { DispatchError } from '@dispatch/contract'
import { waitingClient } from './waiting-client.ts'

/** Measures how long a password takes; what stands around it, such as the counts in the database, is not of this machine. */
export type Timed = <Result>(hashing: () => Promise<Result>) => Promise<Result>

/** How long passwords take on this machine. */
export type Pace = {
  timed: Timed
  /** Measures one before anybody has sent one. */
  measure: (hashing: () => Promise<unknown>) => Promise<void>
  /** In milliseconds. */
  took: () => number
}

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
/** How many are measured at the start: of these the fastest counts, because the others met the rest of the start. */
const measuredFirst = 3

/** Measures how long passwords take to verify. `now`: milliseconds of a clock that only counts. */
export function createPace (now: () => number = () => performance.now()): Pace {
  let took: number | undefined
  return {
    async timed (hashing) {
      const begun = now()
      try {
        return await hashing()
      } finally {
        const measured = now() - begun
        took = took === undefined ? measured : took + (measured - took) * weight
      }
    },
    async measure (hashing) {
      let least = Infinity
      for (let time = 0; time < measuredFirst; time++) {
        const begun = now()
        await hashing()
        least = Math.min(least, now() - begun)
      }
      took ??= least
    },
    took: () => Math.max(took ?? assumed, 1)
  }
}

/**
 * Limits password work, which uses memory and libuv's threads: one at a time, with owners in round-robin order. The queue of all together
 * is as long as is done in two seconds at this pace. Where it is full, an owner that comes new takes the place of one that had its turn.
 */
export function createPasswordSemaphore (pace: Pace): PasswordSemaphore {
  const semaphore = createFairSemaphore({
    waiting: Infinity,
    waitingInAll: () => Math.ceil(longestWait / pace.took()),
    total: 1,
    full: () =>
      new DispatchError('rate_limited', 'Too many passwords are being checked: try again in some seconds.', {
        retryAfter: longestWait / 1000
      })
  })
  return (owner, work) => {
    const client = waitingClient()
    client?.waits()
    return semaphore.run(owner, () => work(pace.timed), client?.gone)
  }
}
