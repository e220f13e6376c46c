import { once, type Permit } from '@dispatch/common'
import { setImmediate } from 'node:timers/promises'
import t from 'tap'
import { startFairWorker } from '../fair-worker.ts'
import type { FetchedJob, JobSource, WorkerClock } from '../job-source.ts'
import { slotsFor } from '../queue.ts'

/** A clock whose time passes only when it is told to: what is due is called in its order. */
function createVirtualClock () {
  let time = 0
  const timers = new Set<{ at: number, call: () => void }>()
  const clock: WorkerClock = {
    now: () => time,
    after (milliseconds, call) {
      const timer = { at: time + milliseconds, call }
      timers.add(timer)
      return () => timers.delete(timer)
    }
  }
  return {
    ...clock,
    sleep: (milliseconds: number): Promise<void> => new Promise((resolve) => clock.after(milliseconds, resolve)),
    /** Lets the time pass until then. */
    async pass (until: number): Promise<void> {
      for (;;) {
        await setImmediate()
        let next: { at: number, call: () => void } | undefined
        for (const timer of timers) if (next === undefined || timer.at < next.at) next = timer
        if (next === undefined || next.at > until) break
        timers.delete(next)
        time = Math.max(time, next.at)
        next.call()
      }
      time = until
    }
  }
}

/** Counts for each company, and the most that there were of one. */
function createCounts () {
  const counts = new Map<string, number>()
  let max = 0
  return {
    max: () => max,
    add (company: string): () => void {
      const count = (counts.get(company) ?? 0) + 1
      counts.set(company, count)
      max = Math.max(max, count)
      return once(() => {
        counts.set(company, (counts.get(company) ?? 1) - 1)
      })
    }
  }
}

type Job = { company: string, turn: number, vendor: number }

/** A statement of the queue, and what the service itself does for a dispatch, in milliseconds. */
const [statement, ownWork] = [5, 20]
/** Milliseconds after which a run that waits for its vendor leaves its slot, as in the pipeline. */
const slowAfter = 100

/** `turnEvery`: milliseconds between two jobs of a company. `atOnce`: how many of those that get their permits together begin together. */
type Kind = { name: 'dispatch' | 'callback', plural: string, turnEvery: number, atOnce: number }

/** Companies have a turn every 10 ms, as `createJobs` gives them; callbacks stand in their order. */
const kinds: Kind[] = [
  { name: 'dispatch', plural: 'dispatches', turnEvery: 10, atOnce: 8 },
  { name: 'callback', plural: 'callbacks', turnEvery: 0, atOnce: 1 }
]

/** A process of the service with 16 slots for jobs of a kind. */
function simulate ({ name, turnEvery, atOnce }: Kind) {
  const clock = createVirtualClock()
  let [queued, inOrder]: [FetchedJob<Job>[], boolean] = [[], true]
  const begun: { company: string, waited: number }[] = []
  /** How many a company has under way, and of these how many have a slot. */
  const underWay = createCounts()
  const placed = createCounts()
  const source: JobSource<Job> = {
    async fetch (many, without) {
      if (!inOrder) queued.sort((one, other) => one.data.turn - other.data.turn)
      inOrder = true
      const left = new Set(without)
      const taken: FetchedJob<Job>[] = []
      for (const job of queued) {
        if (taken.length === many) break
        if (!left.has(job.data.company)) taken.push(job)
      }
      const gone = new Set(taken)
      queued = queued.filter((job) => !gone.has(job))
      await clock.sleep(statement)
      return taken
    },
    keep: () => Promise.resolve(),
    end: () => clock.sleep(statement),
    giveBack: () => Promise.resolve()
  }
  const worker = startFairWorker<Job>({
    source,
    slots: slotsFor(name, 16),
    companyOf: ({ company }) => company,
    together: 8,
    atOnce,
    begin: async (jobs) => {
      await clock.sleep(statement)
      for (const { data: { company, turn, vendor }, permit } of jobs) {
        begun.push({ company, waited: clock.now() - turn })
        const over = underWay.add(company)
        const leave = placed.add(company)
        const stay = clock.after(slowAfter, () => {
          leave()
          permit.park()
        })
        void clock.sleep(ownWork + vendor).then(() => {
          stay()
          leave()
          over()
          permit.release()
        })
      }
    },
    failed: (error) => {
      throw error
    },
    clock
  })
  let ids = 0
  return {
    clock,
    begun,
    underWay,
    placed,
    /** Adds jobs of a company whose vendor takes so long. */
    add: (company: string, many: number, vendor: number): void => {
      const now = clock.now()
      for (let turn = 0; turn < many; turn++) {
        queued.push({ id: String(ids++), retryCount: 0, data: { company, turn: now + turn * turnEvery, vendor } })
      }
      inOrder = false
      worker.ring()
    }
  }
}

/** Milliseconds that vendors take: a quick one, a slow one, and one that does not answer until the time limit of the call. */
const vendors = { quick: 50, slow: 5_000, dead: 60_000 }

/**
 * When the newcomer comes, in milliseconds: each of a thousand has had a first turn by then, which takes some seconds. What they have
 * queued lasts longer.
 */
const comesAt = 10_000

/** Two hundred have more under way than all together may have if none had nothing. */
const crowds = [{ companies: 1, each: 5_000 }, { companies: 10, each: 500 }, { companies: 200, each: 25 }, { companies: 1_000, each: 5 }]

for (const kind of kinds) {
  for (const { companies, each } of crowds) {
    for (const [name, vendor] of Object.entries(vendors)) {
      await t.test(`${companies} companies have ${each} ${kind.plural} each, a ${name} vendor, and another one comes`, async (t) => {
        const { clock, add, begun, underWay, placed } = simulate(kind)
        for (let company = 0; company < companies; company++) add(`busy ${company}`, each, vendor)
        await clock.pass(comesAt)
        const before = begun.length
        add('newcomer', 3, vendors.quick)
        const newcomers = (): typeof begun => begun.filter(({ company }) => company === 'newcomer')
        for (let time = comesAt; newcomers().length < 3 && time < 1_000_000; time += 1_000) await clock.pass(time)
        const waits = newcomers().map(({ waited }) => waited)
        t.equal(waits.length, 3)
        const [first = Infinity] = waits
        t.ok(first < 1_000, `the newcomer waits for less than a second: ${first} ms`)
        // Beside many others, its second turn is that of their next round.
        if (companies <= 10) t.ok(waits.every((wait) => wait < 1_000), `so does whatever it has: ${waits.join(', ')} ms`)
        if (kind.turnEvery > 0 && companies <= 10) {
          const work = ownWork + vendors.quick
          const alone = 2 * statement + work
          t.ok(first + work <= 3 * alone, `its first takes ${first + work} ms, and ${alone} where it is alone`)
        }
        const its = begun.findIndex(({ company }) => company === 'newcomer')
        const beforeIt = Map.groupBy(begun.slice(before, its), ({ company }) => company)
        const maxOfOthers = Math.max(0, ...[...beforeIt.values()].map((some) => some.length))
        const maxTurns = kind.turnEvery > 0 ? Math.max(2, 12 / companies) : Infinity
        t.ok(maxOfOthers <= maxTurns, `nobody has a second turn before its first: ${maxOfOthers}`)
        t.ok(placed.max() <= 12, `a company has 12 of 16 slots at most: ${placed.max()}`)
        t.ok(underWay.max() <= 16, `and 16 under way, with those that wait for a vendor: ${underWay.max()}`)
      })
    }
  }
}

await t.test('looks past the jobs of a company take a tenth of the time, however long one takes', async (t) => {
  const clock = createVirtualClock()
  let [ids, polls] = [0, 0]
  const worker = startFairWorker<string>({
    source: {
      async fetch (max, without) {
        if (without.length === 0) return Array.from({ length: max }, () => ({ id: String(ids++), retryCount: 0, data: 'busy' }))
        polls++
        await clock.sleep(100)
        return []
      },
      keep: () => Promise.resolve(),
      end: () => Promise.resolve(),
      giveBack: () => Promise.resolve()
    },
    slots: slotsFor('dispatch', 16),
    companyOf: (company) => company,
    together: 8,
    atOnce: 8,
    begin: () => Promise.resolve(),
    failed: (error) => {
      throw error
    },
    clock
  })
  for (let time = 0; time <= 11_000; time += 50) {
    worker.ring()
    await clock.pass(time)
  }
  t.ok(polls >= 9 && polls <= 11, `${polls} looks in 11 s`)
  const closed = worker.close()
  await clock.pass(12_000)
  await closed
})

await t.test('a worker that closes has given back what was not begun, all of it together', async (t) => {
  const clock = createVirtualClock()
  const begun: string[] = []
  const given: string[][] = []
  let queued = ['one', 'two', 'three'].map((id) => ({ id, retryCount: 0, data: 'busy' }))
  const worker = startFairWorker<string>({
    source: {
      fetch: () => {
        const jobs = queued
        queued = []
        return Promise.resolve(jobs)
      },
      keep: () => Promise.resolve(),
      end: () => Promise.resolve(),
      async giveBack (jobs) {
        await setImmediate()
        given.push(jobs.map(({ id }) => id))
      }
    },
    slots: slotsFor('dispatch', 1),
    companyOf: (company) => company,
    together: 8,
    atOnce: 8,
    begin: (jobs) => {
      begun.push(...jobs.map(({ data }) => data))
      return Promise.resolve()
    },
    failed: (error) => {
      throw error
    },
    clock
  })
  await clock.pass(1)
  await worker.close()
  t.strictSame([begun, given], [['busy'], [['two', 'three']]])
})

await t.test('while clients of other companies wait for this process, the jobs of a company have a quarter of the places', async (t) => {
  const busy = new Set<number>()
  const slots = slotsFor('dispatch', 16, (company) => [...busy].some((other) => other !== company))
  const permits: Permit[] = []
  const ask = (company: string): void => {
    void slots.acquire(company).then((permit) => {
      if (permit !== undefined) permits.push(permit)
    })
  }
  const granted = async (): Promise<number> => {
    await setImmediate()
    return permits.length
  }
  busy.add(2)
  for (let nth = 0; nth < 20; nth++) ask('1')
  t.equal(await granted(), 4)
  permits[0]?.park()
  t.equal(await granted(), 5, 'one that waits for its vendor has left its place')
  ask('3')
  t.equal(await granted(), 6, 'a company without any has one')
  busy.clear()
  permits[1]?.release()
  t.equal(await granted(), 14, 'three quarters of them, and the one that is parked')
})
