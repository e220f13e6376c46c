import { once } from './once.ts'

/** Whoever shares something: a company by its id, or a client by its name. */
type Owner = number | string

/** A permit of a fair semaphore. */
export type Permit = {
  /** Gives the permit back, once. `cost`: of its work, in any unit, 1 unless told. Owners whose work has cost less go first. */
  release: (cost?: number) => void
  /** Leaves the place to others while its work only waits for somebody else. The permit counts for its owner until it is released. */
  park: () => void
}

/**
 * A limited number of places that several owners share, so that none delays the others. Of those who wait for a place, the owner that holds
 * the fewest permits goes first, then the one whose work has cost the least, then the one that has waited longest. So the share of each
 * shrinks when others come, and grows again when they have gone. Who comes new goes before those that have just had their turn. Some places
 * are kept for owners that hold none.
 */
export type FairSemaphore = {
  /**
   * Waits for a permit. Undefined where there is none: at once where too many wait already, after the time limit, when the client has
   * gone, and once the semaphore is closed. `gone` makes the signal of the client, if it must wait.
   */
  acquire: (owner: Owner, gone?: () => AbortSignal) => Promise<Permit | undefined>
  /** Runs a job with a permit. Rejects with the error of `full` where there is none, and with the reason of the client's signal. */
  run: <T>(owner: Owner, job: () => Promise<T>, gone?: () => AbortSignal) => Promise<T>
  /** How many of those who wait could go on if there were places enough. The others wait for permits of their own owner. */
  demand: () => number
  /** Whether an owner that holds no permit would get one at once. */
  hasRoom: () => boolean
  /** Those that hold permits or wait, and how many of their callers wait. */
  owners: () => { owner: Owner, waiting: number }[]
  /** Gives no more permits: whoever waits, and whoever comes, gets none. */
  close: () => void
}

/**
 * `total`: the number of places; unlimited unless told. `max`: how many permits there may be, with those that are parked; as many as
 * places unless told. `maxInAll`: up to how many an owner that holds none gets one all the same; no more unless told. `perOwner`: how
 * many of them one owner may hold, which a function tells at each turn; 1 unless told. `kept`: how many places are kept for owners that
 * hold no permit, from one that holds some; 1 unless told, and none where there is one place alone. `waiting` and `waitingInAll`: how many
 * callers of one owner and of all owners may wait. Where all are too many, one is refused, who may be the one that comes: of the owner
 * with the most, of several the one whose turn is last, of equals by lot, drawn with `random`. `timeLimit`: for how many milliseconds each
 * of them waits. `full` makes the error of a job that got no permit.
 */
export type FairSemaphoreOptions = {
  waiting: number
  waitingInAll?: number | (() => number)
  timeLimit?: number
  perOwner?: number | ((owner: Owner) => number)
  total?: number
  max?: number
  maxInAll?: number
  kept?: number | ((owner: Owner) => number)
  full?: () => Error
  random?: () => number
}

/** Too many callers wait. The job was not started. */
export class SemaphoreFull extends Error {
  override name = 'SemaphoreFull'
}

type Caller = (permit: Permit | undefined) => void
/** An owner that holds permits or waits for some. `cost`: of its work until now, from the one that it was given when it came. */
type Line = { owner: Owner, held: number, cost: number, callers: Set<Caller> }

/** What one job costs, unless it is told. */
const usualCost = 1

/** How many costs of owners that are away are remembered: when there are more, the half with the highest. */
const maxRemembered = 2_000

/** Creates a fair semaphore. Without options, each owner has one permit, and the places are not limited. */
export function createFairSemaphore ({
  waiting,
  waitingInAll = Infinity,
  timeLimit = Infinity,
  perOwner = 1,
  total = Infinity,
  max = total,
  maxInAll = max,
  kept = total > 1 ? 1 : 0,
  random = Math.random,
  full = () => new SemaphoreFull('Too many jobs are waiting.')
}: FairSemaphoreOptions): FairSemaphore {
  /** Those that hold permits or wait. */
  const lines = new Map<Owner, Line>()
  /** What the work of owners that are away has cost, where it is more than that of those who come new. */
  let costs = new Map<Owner, number>()
  /** Those with callers, in the order in which they began to wait. */
  const queue = new Set<Line>()
  let [taken, held, callers, served] = [0, 0, 0, 0]
  let closed = false

  function lineOf (owner: Owner): Line {
    const line = lines.get(owner) ?? { owner, held: 0, cost: Math.max(costs.get(owner) ?? 0, costOfNew()), callers: new Set() }
    lines.set(owner, line)
    costs.delete(owner)
    return line
  }

  /** Less than that of whoever had the last turn: who comes new goes first. */
  function costOfNew (): number {
    return served - usualCost
  }

  /** Forgets an owner that neither holds a permit nor waits; not its cost, if that is more than the one of who comes new. */
  function forgetIdle ({ owner, held, cost, callers }: Line): void {
    if (held > 0 || callers.size > 0) return
    lines.delete(owner)
    if (cost <= costOfNew()) return
    costs.set(owner, cost)
    if (costs.size <= maxRemembered) return
    const left = [...costs].filter(([, cost]) => cost > costOfNew()).sort(([, one], [, other]) => other - one)
    costs = new Map(left.slice(0, maxRemembered / 2))
  }

  function shareOf ({ owner }: Line): number {
    return typeof perOwner === 'number' ? perOwner : perOwner(owner)
  }

  function keptFrom ({ owner }: Line): number {
    return typeof kept === 'number' ? kept : kept(owner)
  }

  function mayTake (line: Line): boolean {
    if (line.held === 0) return taken < total && held < maxInAll
    const left = keptFrom(line)
    return line.held < shareOf(line) && taken + left < total && held + left < max
  }

  function grant (line: Line): Permit {
    served = line.cost = Math.max(line.cost, served)
    taken++
    held++
    line.held++
    const park = once(() => {
      taken--
    })
    return {
      park () {
        park()
        serve()
      },
      release: once((cost: number = usualCost) => {
        park()
        held--
        line.held--
        line.cost += cost
        serve()
        forgetIdle(line)
      })
    }
  }

  /** Gives permits to those who wait, as long as somebody may take one. */
  function serve (): void {
    for (let line = nextOf(queue); line !== undefined; line = nextOf(queue)) {
      const [caller] = line.callers
      if (caller === undefined) return
      leave(line, caller)
      // To the end of those that are equal otherwise.
      if (queue.delete(line)) queue.add(line)
      caller(grant(line))
    }
  }

  function nextOf (all: Iterable<Line>): Line | undefined {
    let first: Line | undefined
    for (const line of all) {
      if (mayTake(line) && (first === undefined || byTurn(line, first) < 0)) first = line
    }
    return first
  }

  function leave (line: Line, caller: Caller): void {
    if (!line.callers.delete(caller)) return
    callers--
    if (line.callers.size === 0) queue.delete(line)
  }

  function refuse (line: Line, caller: Caller): void {
    leave(line, caller)
    forgetIdle(line)
    caller(undefined)
  }

  /** Makes room for one more caller of a line, unless it is that one who is refused. */
  function makeRoom (line: Line): boolean {
    if (callers < (typeof waitingInAll === 'number' ? waitingInAll : waitingInAll())) return true
    const sizeOf = (one: Line): number => one.callers.size + (one === line ? 1 : 0)
    let last = [line]
    for (const other of queue) {
      if (other === line) continue
      const order = sizeOf(other) - sizeOf(last[0] ?? line) || byTurn(other, last[0] ?? line)
      if (order > 0) last = [other]
      else if (order === 0) last.push(other)
    }
    const drawn = last[Math.floor(random() * last.length)]
    const newest = drawn === line ? undefined : [...drawn?.callers ?? []].at(-1)
    if (drawn === undefined || newest === undefined) return false
    refuse(drawn, newest)
    return true
  }

  async function wait (line: Line, signal?: AbortSignal): Promise<Permit | undefined> {
    const { promise, resolve } = Promise.withResolvers<Permit | undefined>()
    line.callers.add(resolve)
    queue.add(line)
    callers++
    const giveUp = (): void => {
      refuse(line, resolve)
    }
    signal?.addEventListener('abort', giveUp, { once: true })
    const timer = timeLimit === Infinity ? undefined : setTimeout(giveUp, timeLimit)
    try {
      return await promise
    } finally {
      clearTimeout(timer)
      signal?.removeEventListener('abort', giveUp)
    }
  }

  async function acquire (owner: Owner, gone?: () => AbortSignal): Promise<Permit | undefined> {
    if (closed) return undefined
    const line = lineOf(owner)
    if (line.callers.size === 0 && mayTake(line)) return grant(line)
    const signal = gone?.()
    if (signal?.aborted !== true && line.callers.size < waiting && makeRoom(line)) return wait(line, signal)
    forgetIdle(line)
    return undefined
  }

  return {
    acquire,
    async run (owner, job, gone) {
      const permit = await acquire(owner, gone)
      if (permit === undefined) {
        gone?.().throwIfAborted()
        throw full()
      }
      try {
        return await job()
      } finally {
        permit.release()
      }
    },
    demand () {
      let wanted = 0
      for (const line of queue) wanted += Math.min(line.callers.size, Math.max(shareOf(line) - line.held, 0))
      return wanted
    },
    hasRoom: () => !closed && taken < total && held < maxInAll,
    owners: () => [...lines.values()].map(({ owner, callers }) => ({ owner, waiting: callers.size })),
    close () {
      closed = true
      for (const line of [...queue]) {
        for (const caller of [...line.callers]) refuse(line, caller)
      }
    }
  }
}

/** Below 0 where the first one's turn is before the other's. */
function byTurn (line: Line, other: Line): number {
  return line.held - other.held || line.cost - other.cost
}
