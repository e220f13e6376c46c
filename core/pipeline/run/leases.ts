import type { Log } from '../../host/call/log.ts'
import type { Database } from '../../store/db/database.ts'
import type { Lease } from '../../store/dispatch/lease.ts'
import { renewLeases } from '../../store/dispatch/runs.ts'

/**
 * Seconds: for how long a lease is good by the clock of the database, the time between two renewals, and how much earlier its
 * process stops to send, so that what has left is under way before anybody else takes the dispatch.
 */
export type LeaseTimes = { duration: number, renewInterval: number, margin: number }
export const leaseTimes: LeaseTimes = { duration: 15, renewInterval: 5, margin: 2 }

/** The leases of this process. */
export type Leases = {
  /** Works under a new lease, which is renewed until the work has ended, and what it told to `hold` with it. */
  withLease: <T>(work: (lease: Lease, hold: KeepLease) => Promise<T>) => Promise<T>
  /** The runs of this process. */
  heldRuns: () => readonly string[]
  /**
   * Whether a run surely has its lease at this moment, so that something may be sent. A process that stood still, or could not
   * reach the database, knows by its own clocks that the time is over, whoever has the dispatch now.
   */
  isHeld: (runId: string) => boolean
  /** Renews the lease of a run now if little is left of it; answers whether it holds. */
  refresh: (runId: string) => Promise<boolean>
  /** Renews no more. */
  close: () => void
}

/** Keeps the lease until a promise is settled, whoever still waits for it. */
export type KeepLease = <T>(work: Promise<T>) => Promise<T>

/** A moment by both clocks of the process, in milliseconds: one that nobody sets, and one that goes on while the machine is suspended. */
type Moment = { steady: number, set: number }

type LeasesOptions = { database: Database, newId: () => string, now: () => Date, log: Log, times?: LeaseTimes }

export function createLeases ({ database, newId, now, log, times: { duration: good, renewInterval: renewed, margin } = leaseTimes }:
  LeasesOptions): Leases
{
  /** When each lease was last asked for, of those that were given: a lease is counted from before the database heard of it. */
  const since = new Map<string, Moment>()
  const moment = (): Moment => ({ steady: performance.now(), set: now().getTime() })

  /** Seconds that are surely left of a lease. */
  function left (runId: string): number {
    const asked = since.get(runId)
    const time = moment()
    return asked === undefined ? 0 : good - margin - Math.max(time.steady - asked.steady, time.set - asked.set) / 1000
  }

  async function renew (runIds: readonly string[]): Promise<void> {
    const asked = moment()
    for (const runId of await renewLeases(database, runIds, good)) if (since.has(runId)) since.set(runId, asked)
  }

  const notRenewed = (error: unknown): void => {
    log.warn({ err: error }, 'leases could not be renewed')
  }

  const timer = setInterval(() => {
    renew([...since.keys()]).catch(notRenewed)
  }, renewed * 1000)
  timer.unref()
  return {
    async withLease (work) {
      const lease = { runId: newId(), seconds: good }
      let held: Promise<unknown> = Promise.resolve()
      since.set(lease.runId, moment())
      try {
        return await work(lease, (promise) => {
          held = promise.catch(() => undefined)
          return promise
        })
      } finally {
        void held.then(() => since.delete(lease.runId))
      }
    },
    heldRuns: () => [...since.keys()],
    isHeld: (runId) => left(runId) > 0,
    async refresh (runId) {
      if (left(runId) < (good - margin) / 2) await renew([runId]).catch(notRenewed)
      return left(runId) > 0
    },
    close () {
      clearInterval(timer)
    }
  }
}
