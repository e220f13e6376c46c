import { createFairSemaphore, once, type Permit, withTimeLimit } from '@dispatch/common'
import type { Log } from '@dispatch/core/provider'
import { failureError, LoadTimeout, observe } from '@dispatch/core/sandbox'
import { LRUCache } from 'lru-cache'
import { randomUUID } from 'node:crypto'
import { type Child, startChild } from './child.ts'
import type { Launch } from './launch.ts'
import { ownMemory, residentMemory } from './memory.ts'
import type { Walls } from './walls.ts'

/**
 * What is started: an adapter in a version. `load` is what its process is asked first, and may take `loadLimit` milliseconds. Before each
 * start `verify` runs, and rejects where the files are not what was installed; then `launch` looks at them. Before, none need be there.
 */
export type Adapter = {
  code: string
  digest: string
  folder: string
  entry: string
  launch: () => Promise<Launch>
  loadLimit?: number
  verify?: () => Promise<void>
  /** Rejects what is told of the walls of a process that are too few for this adapter, before anything of it is loaded. */
  admit: (walls: Walls) => void
}

/** Work in the process of an adapter. `parks` tells that it only waits for somebody else from now on, such as the vendor. */
export type Work<Result> = (child: Child, parks: () => void) => Promise<Result>

/** Who has work: an account, whose company's id stands before its first `|`. Nobody waits for it any more once it has `ended`. */
export type Worker = { account: string, ended?: AbortSignal }

/** The processes of all adapters. */
export type Pool = {
  /**
   * Runs work in the process of an adapter for an account, which no other account shares: one that is there, or a new one. Companies share
   * the places of the pool fairly. Throws a failure where no place is free in time, and while the adapter rests after crashes: the work has
   * not begun then.
   */
  run: <Result>(adapter: Adapter, worker: Worker, work: Work<Result>) => Promise<Result>
  /** Runs work in a process for this alone, which has ended when the promise settles. */
  runOnce: <Result>(adapter: Adapter, work: Work<Result>, worker?: Worker) => Promise<Result>
  /** Ends the process that does not answer any more, unless it answers at once. */
  probe: (child: Child) => Promise<void>
  /** How many processes there are, the adapters that rest after crashes for at least one account, and the walls of each process. */
  state: () => { processes: number, resting: string[], walls: Walls[] }
  close: () => Promise<void>
}

/**
 * `most` processes at work at once, and as many more that only wait for somebody else. Work waits for a place for `waitLimit` milliseconds.
 * Each process is ended after `idle` milliseconds unused, or beyond `memory` bytes. One that has nothing to do is ended too
 * once it holds more than `resting` bytes of its own, or has been used `uses` times: another one takes its place when it is needed.
 * `onCrash` is told of each that ended otherwise than it was asked to.
 */
export type PoolOptions = {
  log: Log
  onCrash?: (crashed: Pick<Adapter, 'digest'>, why: string) => void
  most?: number
  waitLimit?: number
  idle?: number
  memory?: number
  resting?: number
  uses?: number
  startLimit?: number
  now?: () => number
}

type Member = { child: Child, walls: Walls, usedAt: number, uses: number }
/**
 * Those who use the process of an account together; after a while others have their turn. Where all of them are parked, the place has been
 * left to others: the process goes on without one, and whoever comes joins it.
 */
type Holding = { permit: Permit, users: number, parked: number, left: boolean, since: number }
type Crashes = { code: string, count: number, until: number }

/** Work of the service itself, such as the description of an adapter. */
const nobody: Worker = { account: '' }

const mebibyte = 1024 * 1024
/** How much work of one company, and of all, may wait for a place. */
const [mostWaiting, mostWaitingInAll] = [200, 2_000]
/** Milliseconds that an account keeps its place while others wait for one. */
const turn = 1_000
/** Milliseconds between two looks at what is unused or too large. */
const lookEvery = 1_000
/** Milliseconds in which a process answers that is not stuck. */
const answerWithin = 1_000
/** Milliseconds: the longest rest after crashes. */
const longestRest = 60_000

export function createPool ({
  log,
  onCrash,
  most = 16,
  waitLimit = 10_000,
  idle = 600_000,
  memory = 512 * mebibyte,
  resting = 60 * mebibyte,
  uses = 10_000,
  startLimit = 10_000,
  now = Date.now
}: PoolOptions): Pool {
  const members = new Map<string, Promise<Member>>()
  const settled = new Map<string, Member>()
  const holdings = new Map<string, Holding>()
  /** How many use the process of each key, or are about to. */
  const users = new Map<string, number>()
  const crashes = new LRUCache<string, Crashes>({ max: 5_000 })
  const places = createFairSemaphore({
    total: most,
    most: 2 * most,
    perOwner: most,
    ...(most >= 8 && { kept: most / 4 }),
    waiting: mostWaiting,
    waitingInAll: mostWaitingInAll,
    timeLimit: waitLimit
  })
  const looking = setInterval(look, lookEvery).unref()

  /** A place for the process of a key; what it answers releases the place, or parks it. */
  async function hold (key: string, adapter: Adapter, { account, ended }: Worker): Promise<{ release: () => void, park: () => void }> {
    const known = holdings.get(key)
    const joins = known !== undefined && (known.left || places.demand() === 0 || Date.now() - known.since < turn)
    const holding = joins ? known : await newHolding(key, adapter, { account, ...(ended !== undefined && { ended }) })
    holding.users++
    const park = once(() => {
      holding.parked++
      leaveIfParked(holding)
    })
    let parked = false
    return {
      park () {
        parked = true
        park()
      },
      release () {
        holding.users--
        if (parked) holding.parked--
        if (holding.users > 0) {
          leaveIfParked(holding)
          return
        }
        if (holdings.get(key) === holding) holdings.delete(key)
        holding.permit.release()
      }
    }
  }

  function leaveIfParked (holding: Holding): void {
    if (holding.left || holding.parked < holding.users) return
    holding.left = true
    holding.permit.park()
  }

  async function newHolding (key: string, { code }: Adapter, { account, ended }: Worker): Promise<Holding> {
    const [company = ''] = account.split('|')
    const permit = await places.acquire(company, ended === undefined ? undefined : () => ended)
    if (permit === undefined) {
      throw failureError({
        word: 'provider_unavailable',
        message: `No process came free for the provider "${code}": too much of this company is under way. Nothing was sent.`,
        ours: true
      })
    }
    const holding = { permit, users: 0, parked: 0, left: false, since: Date.now() }
    holdings.set(key, holding)
    return holding
  }

  async function memberOf (key: string, adapter: Adapter): Promise<Member> {
    const known = members.get(key)
    if (known !== undefined) return await known
    makeRoom()
    const starting = start(key, adapter)
    members.set(key, starting)
    return await starting
  }

  async function start (key: string, adapter: Adapter): Promise<Member> {
    const { code, digest, folder, entry, launch, loadLimit = startLimit, verify, admit } = adapter
    const begin = async (): Promise<Child> => {
      await verify?.()
      return startChild({ launch: await launch(), folder, code, log })
    }
    const child = await begin().catch((error: unknown) => {
      members.delete(key)
      throw error
    })
    const starting = members.get(key)
    void child.ended.then((why) => {
      // One that was ended on purpose may have a successor by now.
      if (members.get(key) === starting) {
        members.delete(key)
        settled.delete(key)
      }
      if (why === undefined) return
      crashed(key, code)
      onCrash?.({ digest }, why)
    })
    const begun = performance.now()
    const load = async (): Promise<Walls> => {
      const walls = await child.ask('walls', {})
      admit(walls)
      await child.ask('load', { entry })
      return walls
    }
    const walls = await withTimeLimit(loadLimit, load(), () => new LoadTimeout(loadLimit / 1000))
      .catch((error: unknown) => {
        child.kill('It could not be loaded.')
        throw error
      })
    log.debug({ provider: code, pid: child.pid, ms: Math.round(performance.now() - begun) }, 'the process of an adapter started')
    const member = { child, walls, usedAt: now(), uses: 0 }
    settled.set(key, member)
    return member
  }

  /** Ends what has been unused for longest where there is no place for one more. */
  function makeRoom (): void {
    if (members.size < most) return
    const [longest] = [...settled.entries()].filter(([key]) => !users.has(key)).sort(([, a], [, b]) => a.usedAt - b.usedAt)
    if (longest !== undefined) remove(...longest)
  }

  function remove (key: string, { child }: Member): void {
    members.delete(key)
    settled.delete(key)
    child.kill()
  }

  function crashed (key: string, code: string): void {
    observe('adapterCrash', { provider: code })
    const count = (crashes.get(key)?.count ?? 0) + 1
    const rest = count === 1 ? 0 : Math.min(1000 * 2 ** (count - 2), longestRest)
    crashes.set(key, { code, count, until: Date.now() + rest })
    if (rest > 0) log.error({ provider: code, crashes: count, seconds: rest / 1000 }, 'an adapter crashed again, and rests')
  }

  function refuseWhileResting (key: string, { code }: Adapter): void {
    const left = (crashes.get(key)?.until ?? 0) - Date.now()
    if (left <= 0) return
    throw failureError({
      word: 'provider_unavailable',
      message: `The provider "${code}" crashed several times, and is started again later.`,
      retryAfter: Math.ceil(left / 1000)
    })
  }

  function look (): void {
    for (const [key, member] of settled) {
      if (!users.has(key) && isSpent(member)) remove(key, member)
      else if (residentMemory(member.child.pid) > memory) member.child.kill(`It took more than ${memory / mebibyte} MiB of memory.`)
    }
  }

  /** Whether a process that has nothing to do is not worth keeping. */
  function isSpent ({ child, usedAt, uses: used }: Member): boolean {
    return now() - usedAt >= idle || used >= uses || ownMemory(child.pid) > resting
  }

  async function run<Result> (adapter: Adapter, worker: Worker, work: Work<Result>, own = worker.account): Promise<Result> {
    const key = `${adapter.code} ${adapter.entry} ${own}`
    refuseWhileResting(key, adapter)
    const place = await hold(key, adapter, worker)
    users.set(key, (users.get(key) ?? 0) + 1)
    try {
      const member = await memberOf(key, adapter)
      const result = await work(member.child, place.park)
      member.usedAt = now()
      member.uses++
      crashes.delete(key)
      return result
    } finally {
      const left = (users.get(key) ?? 1) - 1
      if (left > 0) users.set(key, left)
      else users.delete(key)
      place.release()
    }
  }

  return {
    run: (adapter, worker, work) => run(adapter, worker, work),
    async runOnce (adapter, work, worker = nobody) {
      let started: Child | undefined
      try {
        return await run(adapter, worker, (child, parks) => {
          started = child
          return work(child, parks)
        }, `once ${randomUUID()}`)
      } finally {
        started?.kill()
        await started?.ended
      }
    },
    async probe (child) {
      await withTimeLimit(answerWithin, child.ask('ping', {})).catch(() => child.kill('It does not answer any more.'))
    },
    state: () => ({
      processes: members.size,
      resting: [...new Set([...crashes.values()].filter(({ until }) => until > Date.now()).map(({ code }) => code))],
      walls: [...settled.values()].map(({ walls }) => walls)
    }),
    async close () {
      clearInterval(looking)
      places.close()
      const all = [...settled.entries()]
      for (const [key, member] of all) remove(key, member)
      await Promise.all(all.map(([, { child }]) => child.ended))
    }
  }
}
