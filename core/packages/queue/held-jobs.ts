import type { FetchedJob, JobSource } from './job-source.ts'

/** The jobs that a worker has fetched and not given back. For as long as it holds them, nobody else works on them. */
export type HeldJobs<Data> = {
  hold: (job: FetchedJob<Data>) => void
  /** Removes jobs that are done. Those that end while others are removed are removed together. */
  end: (jobs: readonly FetchedJob<Data>[]) => Promise<void>
  /** Gives back jobs that have failed, or were not begun: they come again. */
  giveBack: (jobs: readonly FetchedJob<Data>[], error: unknown) => Promise<void>
  /** Resolves when those that are done are removed; the others are no longer kept alive. */
  close: () => Promise<void>
}

/** Milliseconds after which the queue is told that jobs are still worked on. */
const keepEvery = 4_000

/** Holds the jobs of a source. `failed` is called when the source fails. */
export function holdJobs<Data> (source: Omit<JobSource<Data>, 'fetch'>, failed: (error: unknown) => void): HeldJobs<Data> {
  const held = new Set<FetchedJob<Data>>()
  let ended: FetchedJob<Data>[] = []
  let ending: Promise<void> | undefined
  const keeping = setInterval(() => {
    if (held.size > 0) source.keep([...held]).catch(failed)
  }, keepEvery).unref()

  async function settle (jobs: readonly FetchedJob<Data>[], reported: Promise<void>): Promise<void> {
    // Jobs whose end the queue could not note come again by themselves, once nobody keeps them alive.
    await reported.catch(failed)
    for (const job of jobs) held.delete(job)
  }

  async function removeEnded (): Promise<void> {
    while (ended.length > 0) {
      const some = ended
      ended = []
      await settle(some, source.end(some))
    }
  }

  return {
    hold (job) {
      held.add(job)
    },
    async end (jobs) {
      ended.push(...jobs)
      ending ??= removeEnded().finally(() => {
        ending = undefined
      })
      await ending
    },
    giveBack: (jobs, error) => settle(jobs, source.giveBack(jobs, error)),
    async close () {
      await ending
      clearInterval(keeping)
    }
  }
}
