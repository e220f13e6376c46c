import type { FairSemaphore } from '@dispatch/common'
import { beginJobs } from './beginning.ts'
import { holdJobs } from './held-jobs.ts'
import type { BegunJob, FetchedJob, JobSource, WorkerClock } from './job-source.ts'
import { nobody, pollJobs } from './poller.ts'

export type FairWorker = {
  /** There are new jobs. */
  ring: () => void
  /** Fetches and begins no more. Resolves when the jobs under way have ended. */
  close: () => Promise<void>
}

type Options<Data> = {
  source: JobSource<Data>
  slots: FairSemaphore
  /** The company of a job by its id; all jobs without one are together as one company. */
  companyOf: (data: Data) => string | undefined
  /** How many jobs are fetched at once. */
  together: number
  /** How many of those that get their permits at the same moment begin together. */
  atOnce: number
  /** Begins jobs. They end together when this resolves, and come again where it rejects. */
  begin: (jobs: readonly BegunJob<Data>[]) => Promise<void>
  /** Called when the source fails. */
  failed: (error: unknown) => void
  clock?: WorkerClock
}

const systemClock: WorkerClock = {
  now: () => performance.now(),
  after (milliseconds, call) {
    const timer = setTimeout(call, milliseconds)
    return () => {
      clearTimeout(timer)
    }
  }
}

/**
 * Works on jobs so that no company waits for another one. Each job waits here for a permit of its company, and a few wait beside those
 * under way. A company with enough of them is left out of what is fetched: a look past its jobs finds those of others, however many it has.
 */
export function startFairWorker<
  Data
> ({ source, slots, companyOf, together, atOnce, begin, failed, clock = systemClock }: Options<Data>): FairWorker {
  const ownerOf = ({ data }: FetchedJob<Data>): string => companyOf(data) ?? nobody
  const held = holdJobs(source, failed)
  const beginning = beginJobs({
    slots,
    ownerOf,
    atOnce,
    begin,
    held,
    changed: () => {
      poller.wake()
    }
  })
  const poller = pollJobs({ source, slots, ownerOf, together, take: beginning.take, failed, clock })
  return {
    ring: poller.ring,
    async close () {
      const polled = poller.close()
      slots.close()
      await polled
      await beginning.close()
      await held.close()
    }
  }
}
