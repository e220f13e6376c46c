import type { Log } from '../host/log.ts'
import type { Database } from '../store/database.ts'
import type { Lease } from '../store/lease.ts'
import { renewRuns } from '../store/runs.ts'

/** Seconds that a lease holds, and between two renewals: a process that is gone is missed after the first. */
const [holdsFor, renewedEvery] = [15, 5]

/** The leases of this process. */
export type Leases = {
  /** Works under a new lease, which is renewed until the work has ended, and what it told to `hold` with it. */
  under: <T>(work: (lease: Lease, hold: Hold) => Promise<T>) => Promise<T>
  /** The runs of this process. */
  held: () => readonly string[]
  /** Renews no more. */
  close: () => void
}

/** Keeps the lease until a promise is settled, whoever still waits for it. */
export type Hold = <T>(work: Promise<T>) => Promise<T>

export function createLeases ({ database, newId, now, log }: { database: Database, newId: () => string, now: () => Date, log: Log }): Leases {
  const running = new Set<string>()
  const until = (): Date => new Date(now().getTime() + holdsFor * 1000)
  const renew = (): void => {
    renewRuns(database, [...running], until()).catch((error: unknown) => log.warn({ err: error }, 'leases could not be renewed'))
  }
  const timer = setInterval(renew, renewedEvery * 1000)
  timer.unref()
  return {
    async under (work) {
      const lease = { runId: newId(), until: until() }
      let held: Promise<unknown> = Promise.resolve()
      running.add(lease.runId)
      try {
        return await work(lease, (promise) => {
          held = promise.catch(() => undefined)
          return promise
        })
      } finally {
        void held.then(() => running.delete(lease.runId))
      }
    },
    held: () => [...running],
    close () { clearInterval(timer) }
  }
}
