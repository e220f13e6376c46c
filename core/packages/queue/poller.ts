import type { FairSemaphore } from '@dispatch/common'
import type { FetchedJob, JobSource, WorkerClock } from './job-source.ts'

/** A worker's polling for jobs. */
export type Poller = {
  /** There are new jobs. */
  ring: () => void
  /** Something has changed that the next poll waits for. */
  wake: () => void
  /** Resolves when no poll is under way; there is no other. */
  close: () => Promise<void>
}

type Options<Data> = {
  source: Pick<JobSource<Data>, 'fetch'>
  slots: FairSemaphore
  ownerOf: (job: FetchedJob<Data>) => string
  together: number
  take: (jobs: readonly FetchedJob<Data>[]) => void
  failed: (error: unknown) => void
  clock: WorkerClock
}

/** The owner of jobs that no company has. */
export const nobody = ''

/** Milliseconds between two polls for jobs that are not new: delayed ones, and those whose announcement was lost. */
const pollEvery = 2_000
/**
 * Milliseconds between two polls past the jobs of companies that have enough of them here, and how many times as long as such a poll takes:
 * each reads all of theirs.
 */
const [passEvery, passShare] = [250, 10]
/** The most jobs that wait here, whatever their companies. */
const maxWaiting = 200

/** Polls for jobs as long as there is room for them. Answers at once; the polling goes on. */
export function pollJobs<Data> ({ source, slots, ownerOf, together, take, failed, clock }: Options<Data>): Poller {
  const enough = Math.ceil(together / 2)
  let [closing, rings] = [false, 0]
  /** Until when no poll is due unless jobs are announced; and from when companies may be left out again. */
  let [quietUntil, passAgainAt] = [0, 0]
  /** The companies that were left out of the last poll. */
  let passed: readonly string[] = []
  /** The companies whose jobs were fetched in this round: where there are many, each has one turn a round. */
  let round = new Set<string>()
  /** Those of the round before. */
  let roundBefore: ReadonlySet<string> = new Set()
  let scouting: Promise<void> | undefined
  let [wake, endScouting] = [(): void => undefined, (): void => undefined]

  async function run (): Promise<void> {
    while (!closing) {
      const { max, without } = demandOf(slots, { enough, together, round })
      const time = clock.now()
      const isQuiet = time < quietUntil && passed.every((company) => without.includes(company))
      const pause = Math.max(isQuiet ? quietUntil - time : 0, without.length > 0 ? passAgainAt - time : 0)
      if (max === 0) await rest(pollEvery)
      else if (pause > 0) await rest(pause)
      else await poll(max, without)
    }
  }

  async function fetch (max: number, without: readonly string[]): Promise<number> {
    const jobs = await source.fetch(max, without).catch((error: unknown) => {
      failed(error)
      return []
    })
    for (const job of jobs) round.add(ownerOf(job))
    take(jobs)
    return jobs.length
  }

  async function poll (max: number, without: string[]): Promise<void> {
    const [rungBefore, begun] = [rings, clock.now()]
    quietUntil = 0
    wake = () => undefined
    const count = await fetch(max, without)
    passed = without
    if (round.size > together) {
      scouting ??= scout().finally(() => {
        scouting = undefined
      })
    }
    if (count === max) return
    const isRoundOver = round.size > together
    if (isRoundOver) [roundBefore, round] = [round, new Set()]
    else if (without.length > 0) passAgainAt = clock.now() + Math.max(passEvery, passShare * (clock.now() - begun))
    if (!isRoundOver && rings === rungBefore) quietUntil = clock.now() + pollEvery
  }

  /**
   * Beside the rounds of many companies it polls for those that had no turn in this round and the one before, so that a company that comes
   * new, or seldom, does not wait for a round of all others.
   */
  async function scout (): Promise<void> {
    while (!closing && round.size > together) {
      const begun = clock.now()
      if (waitingIn(slots) < maxWaiting) await fetch(enough, [...roundBefore.union(round)])
      await pauseFor(clock, Math.max(passEvery, passShare * (clock.now() - begun)), (end) => {
        endScouting = end
      })
    }
  }

  /** Waits for so long, or until something has changed. */
  const rest = (milliseconds: number): Promise<void> =>
    pauseFor(clock, milliseconds, (end) => {
      wake = end
    })

  const running = run()
  return {
    ring () {
      rings++
      quietUntil = 0
      wake()
    },
    wake () {
      wake()
    },
    async close () {
      closing = true
      wake()
      endScouting()
      await Promise.all([running, scouting])
    }
  }
}

/** What is to be fetched now: how many, and without which companies. Those of which enough is here are left out. */
function demandOf (
  slots: FairSemaphore,
  { enough, together, round }: { enough: number, together: number, round: ReadonlySet<string> }
): { max: number, without: string[] } {
  const room = together - slots.demand()
  if (waitingIn(slots) >= maxWaiting) return { max: 0, without: [] }
  const isOpen = room >= enough
  const waitingAtLeast = isOpen ? enough : 0
  const companies = slots.owners().filter(({ owner, waiting }) => owner !== nobody && waiting >= waitingAtLeast)
  const without = new Set([...companies.map(({ owner }) => String(owner)), ...(round.size > together ? round : [])])
  return { max: isOpen ? room : slots.hasRoom() ? 1 : 0, without: [...without] }
}

function waitingIn (slots: FairSemaphore): number {
  return slots.owners().reduce((sum, { waiting }) => sum + waiting, 0)
}

/** Waits for so long, or until `end` is called, which `endedBy` gets. */
async function pauseFor (clock: WorkerClock, milliseconds: number, endedBy: (end: () => void) => void): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<undefined>()
  const end = (): void => {
    resolve(undefined)
  }
  const cancel = clock.after(milliseconds, end)
  endedBy(end)
  await promise
  cancel()
}
