import type { Permit } from '@dispatch/common'

/** A job that was fetched: nobody else works on it for as long as it is kept. */
export type FetchedJob<Data> = { id: string, retryCount: number, data: Data }

/** Where jobs come from. */
export type JobSource<Data> = {
  /** At most so many jobs, the most urgent first, but none of these companies. */
  fetch: (max: number, without: readonly string[]) => Promise<FetchedJob<Data>[]>
  /** Says that jobs are still worked on. */
  keep: (jobs: readonly FetchedJob<Data>[]) => Promise<void>
  /** Removes jobs that are done. */
  end: (jobs: readonly FetchedJob<Data>[]) => Promise<void>
  /** Gives back jobs that have failed, or were not begun: they come again. */
  giveBack: (jobs: readonly FetchedJob<Data>[], error: unknown) => Promise<void>
}

/** A job that may begin. Its permit counts for its company until it is released. */
export type BegunJob<Data> = { data: Data, permit: Permit }

/** The clock of a worker, in milliseconds. `after` calls once, and answers how to cancel that. */
export type WorkerClock = { now: () => number, after: (milliseconds: number, call: () => void) => () => void }
