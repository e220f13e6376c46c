import { type Log, observe } from '@dispatch/common'
import type { Database } from '@dispatch/database'
import type { Lease } from '../../store/dispatch/lease.ts'
import { renewLeases } from '../../store/dispatch/runs.ts'

/**
 * In seconds. `duration`: of a lease, by the clock of the database. `renewInterval`: between two renewals. `margin`: how long before the
 * end of its lease a process stops sending, so that its last request is on the way before another process takes the dispatch.
 */
export type LeaseTimes = { duration: number, renewInterval: number, margin: number }
export const leaseTimes: LeaseTimes = { duration: 15, renewInterval: 5, margin: 2 }

/** The leases of this process. */
export type Leases = {
  /** A new lease. It is renewed until `end` is called, and the promise that was passed to `hold` is settled too. */
  begin: () => { lease: Lease, hold: KeepLease, end: () => void }
  /** Works under a new lease. It is renewed until the work has ended, and the promise that was passed to `hold` too. */
  withLease: <T>(work: (lease: Lease, hold: KeepLease) => Promise<T>) => Promise<T>
  /** The runs of this process. */
  heldRuns: () => readonly string[]
  /**
   * Whether a run surely has its lease now, so that it may send. A process that was suspended, or could not reach the database, knows by
   * its own clocks that the lease may be over.
   */
  isHeld: (runId: string) => boolean
  /** Renews the lease of a run if less than half of it is left; answers whether the run has it. */
  refresh: (runId: string) => Promise<boolean>
  /** Stops the renewals. */
  close: () => void
}

/** Keeps the lease until a promise is settled, even when nobody waits for it any more. */
export type KeepLease = <T>(work: Promise<T>) => Promise<T>

/** A moment by both clocks of the process, in milliseconds: the monotonic one, and the wall clock, which goes on in standby. */
type Moment = { steady: number, set: number }

type LeasesOptions = { database: Database, newId: () => string, now: () => Date, log: Log, times?: LeaseTimes }

/** The leases by which a process has dispatches. `duration`, `renewInterval`, `margin`: see {@link leaseTimes}. */
export function createLeases ({ database, newId, now, log, times: { duration: good, renewInterval: renewed, margin } = leaseTimes }:
  LeasesOptions): Leases
{
  /** When each lease was last requested: it is counted from before the request, so a process never believes in it for too long. */
  const since = new Map<string, Moment>()
  /** The runs that are known to have lost theirs. */
  const lost = new Set<string>()
  const moment = (): Moment => ({ steady: performance.now(), set: now().getTime() })

  /** Seconds in which a run may still send. */
  function left (runId: string): number {
    const grantedAt = since.get(runId)
    const time = moment()
    return grantedAt === undefined ? 0 : good - margin - Math.max(time.steady - grantedAt.steady, time.set - grantedAt.set) / 1000
  }

  async function renew (runIds: readonly string[]): Promise<void> {
    const requestedAt = moment()
    const renewed = new Set(await renewLeases(database, runIds, good))
    const here = runIds.filter((runId) => since.has(runId))
    for (const runId of here) if (renewed.has(runId)) since.set(runId, requestedAt)
    const gone = here.filter((runId) => left(runId) <= 0 && !lost.has(runId))
    for (const runId of gone) lost.add(runId)
    if (gone.length > 0) observe('leasesLost', { runs: gone.length })
  }

  const notRenewed = (error: unknown): void => {
    log.warn({ err: error }, 'leases could not be renewed')
  }

  const timer = setInterval(() => {
    renew([...since.keys()]).catch(notRenewed)
  }, renewed * 1000)
  timer.unref()
  function begin (): ReturnType<Leases['begin']> {
    const lease = { runId: newId(), seconds: good }
    let held: Promise<unknown> = Promise.resolve()
    since.set(lease.runId, moment())
    return {
      lease,
      hold (promise) {
        held = promise.catch(() => undefined)
        return promise
      },
      end () {
        void held.then(() => {
          since.delete(lease.runId)
          lost.delete(lease.runId)
        })
      }
    }
  }

  return {
    begin,
    async withLease (work) {
      const { lease, hold, end } = begin()
      try {
        return await work(lease, hold)
      } finally {
        end()
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
