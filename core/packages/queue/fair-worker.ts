import type { FairSemaphore, Permit } from '@dispatch/common'

/** A job that was fetched: nobody else works on it for as long as it is kept. */
export type FetchedJob<Data> = { id: string, retryCount: number, data: Data }

/** Where jobs come from. */
export type JobSource<Data> = {
  /** At most so many jobs, the most urgent first, but none of these companies. */
  fetch: (most: number, without: readonly string[]) => Promise<FetchedJob<Data>[]>
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

export type FairWorker = {
  /** There are new jobs. */
  ring: () => void
  /** Fetches and begins no more. Resolves when the jobs under way have ended. */
  close: () => Promise<void>
}

type Options<Data> = {
  source: JobSource<Data>
  places: FairSemaphore
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

/** Milliseconds between two looks for jobs that are not new: delayed ones, and those whose announcement was lost. */
const pollEvery = 2_000
/**
 * Milliseconds between two looks past the jobs of companies that have enough of them here, and how many times as long as such a look takes:
 * each reads all of theirs.
 */
const [passEvery, passShare] = [250, 10]
/** Milliseconds after which the queue is told that jobs are still worked on. */
const keepEvery = 4_000
/** The owner of jobs that no company has. */
const nobody = ''
/** The most jobs that wait here, whatever their companies. */
const mostWaiting = 200

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
> ({ source, places, companyOf, together, atOnce, begin, failed, clock = systemClock }: Options<Data>): FairWorker {
  const enough = Math.ceil(together / 2)
  const held = new Set<FetchedJob<Data>>()
  const underWay = new Set<Promise<void>>()
  let granted: { job: FetchedJob<Data>, permit: Permit }[] = []
  let ended: FetchedJob<Data>[] = []
  let ending: Promise<void> | undefined
  const admitting = new Set<Promise<void>>()
  /** Those that got no permit because the worker closes. */
  const unbegun: FetchedJob<Data>[] = []
  let [closing, rings] = [false, 0]
  /** Until when nothing is expected where nothing is new; and when companies may be left out again, after a look that found too little. */
  let [quietUntil, passAgainAt] = [0, 0]
  /** The companies that were left out of the last look. */
  let passed: readonly string[] = []
  /** Those of whom something was fetched in this round: where there are many, each has its turn before one of them has another. */
  let round = new Set<string>()
  /** Those of the round before. */
  let roundBefore: ReadonlySet<string> = new Set()
  let scouting: Promise<void> | undefined
  let [wake, endScouting] = [(): void => undefined, (): void => undefined]

  const companies = (waitingAtLeast: number): string[] =>
    places.owners().filter(({ owner, waiting }) => owner !== nobody && waiting >= waitingAtLeast).map(({ owner }) => String(owner))
  const waitingInAll = (): number => places.owners().reduce((sum, { waiting }) => sum + waiting, 0)

  /** What is to be fetched now: how many, and without whom. Where all that is wanted of those who compete is here, only others are. */
  function wanted (): { most: number, without: string[] } {
    const room = together - places.demand()
    if (waitingInAll() >= mostWaiting) return { most: 0, without: [] }
    const isOpen = room >= enough
    const without = new Set([...companies(isOpen ? enough : 0), ...(round.size > together ? round : [])])
    return { most: isOpen ? room : places.hasRoom() ? 1 : 0, without: [...without] }
  }

  async function run (): Promise<void> {
    while (!closing) {
      const { most, without } = wanted()
      const time = clock.now()
      const isQuiet = time < quietUntil && passed.every((company) => without.includes(company))
      const pause = Math.max(isQuiet ? quietUntil - time : 0, without.length > 0 ? passAgainAt - time : 0)
      if (most === 0) await rest(pollEvery)
      else if (pause > 0) await rest(pause)
      else await look(most, without)
    }
  }

  async function look (most: number, without: string[]): Promise<void> {
    const [rungBefore, begun] = [rings, clock.now()]
    quietUntil = 0
    wake = () => undefined
    const jobs = await source.fetch(most, without).catch((error: unknown) => {
      failed(error)
      return []
    })
    take(jobs)
    passed = without
    if (round.size > together) {
      scouting ??= scout().finally(() => {
        scouting = undefined
      })
    }
    if (jobs.length === most) return
    const isRoundOver = round.size > together
    if (isRoundOver) [roundBefore, round] = [round, new Set()]
    else if (without.length > 0) passAgainAt = clock.now() + Math.max(passEvery, passShare * (clock.now() - begun))
    if (!isRoundOver && rings === rungBefore) quietUntil = clock.now() + pollEvery
  }

  function take (jobs: readonly FetchedJob<Data>[]): void {
    for (const job of jobs) {
      round.add(companyOf(job.data) ?? nobody)
      const admission = admit(job).finally(() => admitting.delete(admission))
      admitting.add(admission)
    }
  }

  /**
   * Beside the turns of many companies it looks for those that had none in this round and in the one before: whoever comes new, or seldom,
   * does not wait for a round of all others.
   */
  async function scout (): Promise<void> {
    while (!closing && round.size > together) {
      const begun = clock.now()
      if (waitingInAll() < mostWaiting) {
        take(await source.fetch(enough, [...roundBefore.union(round)]).catch((error: unknown) => {
          failed(error)
          return []
        }))
      }
      await pauseFor(Math.max(passEvery, passShare * (clock.now() - begun)), (end) => {
        endScouting = end
      })
    }
  }

  /** Waits for so long, or until something has changed. */
  const rest = (milliseconds: number): Promise<void> =>
    pauseFor(milliseconds, (end) => {
      wake = end
    })

  /** Waits for so long, or until what `endedBy` is given is called. */
  async function pauseFor (milliseconds: number, endedBy: (end: () => void) => void): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<undefined>()
    const end = (): void => {
      resolve(undefined)
    }
    const cancel = clock.after(milliseconds, end)
    endedBy(end)
    await promise
    cancel()
  }

  async function admit (job: FetchedJob<Data>): Promise<void> {
    held.add(job)
    const permit = await places.acquire(companyOf(job.data) ?? nobody)
    if (permit === undefined) {
      unbegun.push(job)
      return
    }
    if (granted.push({ job, permit: waking(permit) }) === 1) queueMicrotask(beginGranted)
    wake()
  }

  /** A permit whose return lets the worker look whether there is more to do. */
  function waking ({ release, park }: Permit): Permit {
    return {
      release (cost) {
        release(cost)
        wake()
      },
      park () {
        park()
        wake()
      }
    }
  }

  function beginGranted (): void {
    const all = granted
    granted = []
    for (let first = 0; first < all.length; first += atOnce) {
      const some = all.slice(first, first + atOnce)
      const jobs = some.map(({ job }) => job)
      const work = begin(some.map(({ job: { data }, permit }) => ({ data, permit }))).then(
        () => end(jobs),
        (error: unknown) => settle(jobs, source.giveBack(jobs, error))
      ).finally(() => underWay.delete(work))
      underWay.add(work)
    }
  }

  /** Those that end while others are removed are removed together. */
  async function end (jobs: readonly FetchedJob<Data>[]): Promise<void> {
    ended.push(...jobs)
    ending ??= removeEnded().finally(() => {
      ending = undefined
    })
    await ending
  }

  async function removeEnded (): Promise<void> {
    while (ended.length > 0) {
      const some = ended
      ended = []
      await settle(some, source.end(some))
    }
  }

  async function settle (jobs: readonly FetchedJob<Data>[], end: Promise<void>): Promise<void> {
    // What the queue could not be told comes again by itself, once nobody keeps it any more.
    await end.catch(failed)
    for (const job of jobs) held.delete(job)
  }

  const keeping = setInterval(() => {
    if (held.size > 0) source.keep([...held]).catch(failed)
  }, keepEvery).unref()
  const running = run()

  return {
    ring () {
      rings++
      quietUntil = 0
      wake()
    },
    async close () {
      closing = true
      places.close()
      wake()
      endScouting()
      await Promise.all([running, scouting])
      await Promise.all(admitting)
      if (unbegun.length > 0) await settle(unbegun, source.giveBack(unbegun, new Error('This process closes: the job was not begun.')))
      await Promise.all(underWay)
      await ending
      clearInterval(keeping)
    }
  }
}
