import type { FairSemaphore, Permit } from '@dispatch/common'
import type { HeldJobs } from './held-jobs.ts'
import type { BegunJob, FetchedJob } from './job-source.ts'

/** Begins jobs that were fetched, each when its company has a permit for it. */
export type Beginning<Data> = {
  take: (jobs: readonly FetchedJob<Data>[]) => void
  /** Resolves when the jobs under way have ended. Those that got no permit are given back. The permits are closed before. */
  close: () => Promise<void>
}

type Options<Data> = {
  slots: FairSemaphore
  ownerOf: (job: FetchedJob<Data>) => string
  atOnce: number
  begin: (jobs: readonly BegunJob<Data>[]) => Promise<void>
  held: HeldJobs<Data>
  /** Called when a job has got its permit, has left its slot or has given its permit back: there may be more to do. */
  changed: () => void
}

/** Those that get their permits at the same moment begin together, at most `atOnce`. */
export function beginJobs<Data> ({ slots, ownerOf, atOnce, begin, held, changed }: Options<Data>): Beginning<Data> {
  const admitting = new Set<Promise<void>>()
  const underWay = new Set<Promise<void>>()
  let granted: { job: FetchedJob<Data>, permit: Permit }[] = []
  /** Those that got no permit because the worker closes. */
  const unbegun: FetchedJob<Data>[] = []

  async function admit (job: FetchedJob<Data>): Promise<void> {
    held.hold(job)
    const permit = await slots.acquire(ownerOf(job))
    if (permit === undefined) {
      unbegun.push(job)
      return
    }
    if (granted.push({ job, permit: telling(permit, changed) }) === 1) queueMicrotask(beginGranted)
    changed()
  }

  function beginGranted (): void {
    const all = granted
    granted = []
    for (let first = 0; first < all.length; first += atOnce) {
      const some = all.slice(first, first + atOnce)
      const jobs = some.map(({ job }) => job)
      const work = begin(some.map(({ job: { data }, permit }) => ({ data, permit }))).then(
        () => held.end(jobs),
        (error: unknown) => held.giveBack(jobs, error)
      ).finally(() => underWay.delete(work))
      underWay.add(work)
    }
  }

  return {
    take (jobs) {
      for (const job of jobs) {
        const admission = admit(job).finally(() => admitting.delete(admission))
        admitting.add(admission)
      }
    },
    async close () {
      await Promise.all(admitting)
      if (unbegun.length > 0) await held.giveBack(unbegun, new Error('This process closes: the job was not begun.'))
      await Promise.all(underWay)
    }
  }
}

/** A permit that says when it, or its slot, is given back. */
function telling ({ release, park }: Permit, changed: () => void): Permit {
  return {
    release (cost) {
      release(cost)
      changed()
    },
    park () {
      park()
      changed()
    }
  }
}
