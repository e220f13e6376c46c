import { once } from './once.ts'

/** Whoever shares something: a company by its id, or a client by its name. */
type Owner = number | string

/** A permit of a fair semaphore. */
export type Permit = {
  /** Gives the permit back, once. `cost`: of its work, in any unit, 1 unless given. Owners whose work has cost less go first. */
  release: (cost?: number) => void
  /** Leaves the slot to others while its work only waits for somebody else. The permit counts for its owner until it is released. */
  park: () => void
}

/**
 * A limited number of slots that several owners share, so that none delays the others. Of those who wait for a slot, the owner that holds
 * the fewest permits goes first, then the one whose work has cost the least, then the one that has waited longest. So the share of each
 * shrinks when others come, and grows again when they have gone. Who comes new goes before those that have just had their turn. Some slots
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
  /** How many of those who wait could go on if there were slots enough. The others wait for permits of their own owner. */
  demand: () => number
  /** Whether an owner that holds no permit would get one at once. */
  hasRoom: () => boolean
  /** Those that hold permits or wait, and how many of their callers wait. */
  owners: () => { owner: Owner, waiting: number }[]
  /** Gives no more permits: whoever waits, and whoever comes, gets none. */
  close: () => void
}

/**
 * `total`: the number of slots; unlimited unless given. `max`: how many permits there may be, with those that are parked; as many as
 * slots unless given. `maxInAll`: up to how many an owner that holds none gets one all the same; no more unless given. `perOwner`: how
 * many of them one owner may hold, which a function answers at each turn; 1 unless given. `kept`: how many slots are kept for owners that
 * hold no permit, from one that holds some; 1 unless given, and none where there is one slot alone. `waiting` and `waitingInAll`: how many
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

/** What one job costs, unless it is given. */
const usualCost = 1

/** How many costs of owners that are away are remembered: when there are more, the half with the highest. */
const maxRemembered = 2_000

/** Those that hold permits or wait, and what the work of others has cost. */
type Lines = {
  all: ReadonlyMap<Owner, Line>
  of: (owner: Owner) => Line
  /** Notes that a line has its turn. */
  serve: (line: Line) => void
  /** Forgets an owner that neither holds a permit nor waits; not its cost, if that is more than the one of who comes new. */
  forgetIdle: (line: Line) => void
}

function createLines (): Lines {
  const all = new Map<Owner, Line>()
  /** What the work of owners that are away has cost, where it is more than that of those who come new. */
  let costs = new Map<Owner, number>()
  let served = 0
  /** Less than that of whoever had the last turn: who comes new goes first. */
  const costOfNew = (): number => served - usualCost

  return {
    all,
    of (owner) {
      const line = all.get(owner) ?? { owner, held: 0, cost: Math.max(costs.get(owner) ?? 0, costOfNew()), callers: new Set() }
      all.set(owner, line)
      costs.delete(owner)
      return line
    },
    serve (line) {
      served = line.cost = Math.max(line.cost, served)
    },
    forgetIdle ({ owner, held, cost, callers }) {
      if (held > 0 || callers.size > 0) return
      all.delete(owner)
      if (cost <= costOfNew()) return
      costs.set(owner, cost)
      if (costs.size <= maxRemembered) return
      const left = [...costs].filter(([, cost]) => cost > costOfNew()).sort(([, one], [, other]) => other - one)
      costs = new Map(left.slice(0, maxRemembered / 2))
    }
  }
}

/** The lines with callers, in the order in which they began to wait. */
type Waiting = {
  lines: Set<Line>
  callers: () => number
  join: (line: Line, caller: Caller) => void
  leave: (line: Line, caller: Caller) => void
}

function createWaiting (): Waiting {
  const lines = new Set<Line>()
  let callers = 0
  return {
    lines,
    callers: () => callers,
    join (line, caller) {
      line.callers.add(caller)
      lines.add(line)
      callers++
    },
    leave (line, caller) {
      if (!line.callers.delete(caller)) return
      callers--
      if (line.callers.size === 0) lines.delete(line)
    }
  }
}

/** Creates a fair semaphore. Without options, each owner has one permit, and the slots are not limited. */
export function createFairSemaphore ({
  waiting: maxWaiting,
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
  const lines = createLines()
  const waiting = createWaiting()
  let [taken, held, closed] = [0, 0, false]

  const shareOf = ({ owner }: Line): number => typeof perOwner === 'number' ? perOwner : perOwner(owner)
  const keptFrom = ({ owner }: Line): number => typeof kept === 'number' ? kept : kept(owner)

  function mayTake (line: Line): boolean {
    if (line.held === 0) return taken < total && held < maxInAll
    const left = keptFrom(line)
    return line.held < shareOf(line) && taken + left < total && held + left < max
  }

  function grant (line: Line): Permit {
    lines.serve(line)
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
        lines.forgetIdle(line)
      })
    }
  }

  /** Gives permits to those who wait, as long as somebody may take one. */
  function serve (): void {
    for (let line = firstOf(waiting.lines, mayTake); line !== undefined; line = firstOf(waiting.lines, mayTake)) {
      const [caller] = line.callers
      if (caller === undefined) return
      waiting.leave(line, caller)
      // To the end of those that are equal otherwise.
      if (waiting.lines.delete(line)) waiting.lines.add(line)
      caller(grant(line))
    }
  }

  function refuse (line: Line, caller: Caller): void {
    waiting.leave(line, caller)
    lines.forgetIdle(line)
    caller(undefined)
  }

  /** Makes room for one more caller of a line, unless it is that one who is refused. */
  function makeRoom (line: Line): boolean {
    if (waiting.callers() < (typeof waitingInAll === 'number' ? waitingInAll : waitingInAll())) return true
    const last = lastOf(waiting.lines, line)
    const drawn = last[Math.floor(random() * last.length)]
    const newest = drawn === line ? undefined : [...drawn?.callers ?? []].at(-1)
    if (drawn === undefined || newest === undefined) return false
    refuse(drawn, newest)
    return true
  }

  async function acquire (owner: Owner, gone?: () => AbortSignal): Promise<Permit | undefined> {
    if (closed) return undefined
    const line = lines.of(owner)
    if (line.callers.size === 0 && mayTake(line)) return grant(line)
    const signal = gone?.()
    if (signal?.aborted !== true && line.callers.size < maxWaiting && makeRoom(line)) {
      return wait((caller) => {
        waiting.join(line, caller)
        return () => {
          refuse(line, caller)
        }
      }, { timeLimit, signal })
    }
    lines.forgetIdle(line)
    return undefined
  }

  return {
    acquire,
    run: (owner, job, gone) => run(acquire, { owner, job, gone, full }),
    demand: () => [...waiting.lines].reduce((sum, line) => sum + Math.min(line.callers.size, Math.max(shareOf(line) - line.held, 0)), 0),
    hasRoom: () => !closed && taken < total && held < maxInAll,
    owners: () => [...lines.all.values()].map(({ owner, callers }) => ({ owner, waiting: callers.size })),
    close () {
      closed = true
      for (const line of [...waiting.lines]) {
        for (const caller of [...line.callers]) refuse(line, caller)
      }
    }
  }
}

/** Waits until its caller is called, which `join` answers how to refuse: after the time limit, and when the client has gone. */
async function wait (
  join: (caller: Caller) => () => void,
  { timeLimit, signal }: { timeLimit: number, signal: AbortSignal | undefined }
): Promise<Permit | undefined> {
  const { promise, resolve } = Promise.withResolvers<Permit | undefined>()
  const giveUp = join(resolve)
  signal?.addEventListener('abort', giveUp, { once: true })
  const timer = timeLimit === Infinity ? undefined : setTimeout(giveUp, timeLimit)
  try {
    return await promise
  } finally {
    clearTimeout(timer)
    signal?.removeEventListener('abort', giveUp)
  }
}

type Job<T> = { owner: Owner, job: () => Promise<T>, gone: (() => AbortSignal) | undefined, full: () => Error }

async function run<T> (acquire: FairSemaphore['acquire'], { owner, job, gone, full }: Job<T>): Promise<T> {
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
}

/** The line whose turn it is, of those that may take a permit. */
function firstOf (lines: Iterable<Line>, mayTake: (line: Line) => boolean): Line | undefined {
  let first: Line | undefined
  for (const line of lines) {
    if (mayTake(line) && (first === undefined || byTurn(line, first) < 0)) first = line
  }
  return first
}

/** The lines with the most callers, and of those the last ones in turn; `coming` has one caller more. */
function lastOf (lines: Iterable<Line>, coming: Line): Line[] {
  const sizeOf = (line: Line): number => line.callers.size + (line === coming ? 1 : 0)
  let last = [coming]
  for (const line of lines) {
    if (line === coming) continue
    const order = sizeOf(line) - sizeOf(last[0] ?? coming) || byTurn(line, last[0] ?? coming)
    if (order > 0) last = [line]
    else if (order === 0) last.push(line)
  }
  return last
}

/** Below 0 where the first one's turn is before the other's. */
function byTurn (line: Line, other: Line): number {
  return line.held - other.held || line.cost - other.cost
}
