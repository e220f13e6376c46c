/** A company by its id, or a name for those who share the part of one: all clients that nobody knows. */
type Owner = number | string

export type LoopTurns = {
  /**
   * The turn of one request. Undefined where it may begin at once; otherwise it resolves when the turn comes. Those in a `line` of their
   * owner (the address of a client that nobody knows) take its turns one after the other, and lines that come new go first.
   */
  next: (owner: Owner, line?: string) => Promise<void> | undefined
  /** A connection was accepted in this turn of the loop. */
  accepted: () => void
}

type Lines = Map<string, (() => void)[]>
/** `begun`: how many requests have begun lately. `newLines`: of those that have begun none lately. */
type Part = { begun: number, isQueue: boolean, newLines: Lines, lines: Lines }

type Kind = 'companies' | 'lines'
/** How many of each kind may begin in a turn. */
type Open = Record<Kind, number>

/** In this many milliseconds half of what has begun is forgotten. */
const halfLife = 1_000

/** Who has begun so many requests fewer than another one has begun less; who has begun a fifth less than what is left, far less. */
const [few, farLess] = [8, 1.25]

/** How many milliseconds a turn should take while somebody has begun far less, and how many requests begin in it at most. */
const [longestTurn, maxBegun] = [1, 4]

/** For how many turns in a row connections come first. */
const maxPassed = 7

/** The most of its time that the loop works while lines begin beside a company, and while companies begin beside one with far less. */
const maxUsed = { lines: 1 / 3, companies: 2 / 3 }
/** Milliseconds after which one of them begins nevertheless, and those until it is looked again. */
const [longestPause, pause] = [25, 1]

/** How much each has begun lately. */
type Shares = {
  /** The part of an owner, once what is too long ago is forgotten. */
  of: (owner: Owner, line: string, time: number) => Part
  begin: (part: Part, line: string, time: number) => void
  /** The most that one has begun. */
  max: () => number
  /** Whether a line has begun something in this half-life, or in the one before. */
  knows: (line: string) => boolean
  /** Until when lines are paced: somebody who is none of them has begun lately. */
  besideUntil: () => number
}

/** `waiting`: those that are kept, however little they have begun. */
function createShares (begunAt: number, waiting: ReadonlySet<Part>): Shares {
  const parts = new Map<Owner, Part>()
  let [recent, earlier] = [new Set<string>(), new Set<string>()]
  let [agedAt, max, besideUntil] = [begunAt, 0, -Infinity]

  function age (time: number): void {
    if (time - agedAt < halfLife) return
    const left = 0.5 ** ((time - agedAt) / halfLife)
    agedAt = time
    ;[recent, earlier] = [new Set(), recent]
    max = 0
    for (const [owner, part] of parts) {
      part.begun *= left
      max = Math.max(max, part.begun)
      if (part.begun < 0.1 && !waiting.has(part)) parts.delete(owner)
    }
  }

  return {
    of (owner, line, time) {
      age(time)
      return parts.getOrInsertComputed(owner, () => ({ begun: 0, isQueue: line !== '', newLines: new Map(), lines: new Map() }))
    },
    begin (part, line, time) {
      part.begun++
      if (!part.isQueue) besideUntil = time + halfLife
      max = Math.max(max, part.begun)
      recent.add(line)
    },
    max: () => max,
    knows: (line) => recent.has(line) || earlier.has(line),
    besideUntil: () => besideUntil
  }
}

/**
 * The turns of the event loop in which requests begin. Each step of a request waits for a turn of the loop, and the loop accepts one
 * connection in a turn, of whomever it is. So what begins in one turn decides how long all others wait at every step. Who has lately begun
 * less than the one with the most begins at once. While there is one that has begun far less, or connections come, the others begin in
 * turns, who has begun least first: as few in each as keep turns short, after the connections, and only as fast as leaves the loop idle for
 * a third of the time. Those who stand in lines leave it idle for two thirds, for each of their connections costs before it has a turn.
 * Otherwise, where all are alike or one is alone, nobody waits. `now`: milliseconds of a clock that only counts. `measure`: begins to
 * measure; what it answers tells which share of the time since then the loop has worked.
 */
export function createLoopTurns (now: () => number = () => performance.now(), measure: () => () => number = measureLoop): LoopTurns {
  const waiting = new Set<Part>()
  const shares = createShares(now(), waiting)
  /** Until when companies are paced, for one that has begun far less. */
  let sharedUntil = -Infinity
  /** How many begin in a turn; for how many turns in a row connections came first. */
  let [batch, passed] = [1, 0]
  let begunAt: number | undefined
  /** When the last one of each kind began in a turn. */
  const last: Record<Kind, number> = { companies: -Infinity, lines: -Infinity }
  /** Which share of the time since the last one of any kind began the loop has worked. */
  let used = (): number => 0
  let [isComing, hasAccepted] = [false, false]

  /** A turn comes when the loop has done what is ready. */
  function come (): void {
    if (isComing) return
    isComing = true
    setImmediate(turn)
  }

  /** Until then the loop is idle, where nothing else is ready. */
  function comeLater (): void {
    isComing = true
    setTimeout(turn, pause)
  }

  function turn (): void {
    isComing = false
    const time = now()
    if (begunAt !== undefined) batch = time - begunAt > longestTurn ? Math.ceil(batch / 2) : Math.min(batch + 1, maxBegun)
    begunAt = undefined
    const open = openIn(time)
    const waits = hasAccepted && passed < maxPassed
    hasAccepted = false
    passed = waits ? passed + 1 : 0
    if (waiting.size === 0) return
    if (waits || beginSome(time, open)) come()
    else comeLater()
  }

  /** How many may begin in a turn now. */
  function openIn (time: number): Open {
    const isShared = time < sharedUntil
    const isPaced = hasAccepted || isShared || time < shares.besideUntil()
    return {
      companies: !isShared || isIdle('companies', time) ? maxBegun : 0,
      lines: isPaced ? Number(isIdle('lines', time)) : maxBegun
    }
  }

  /** Whether the loop has been idle for as much of the time since one began as those of this kind leave it. */
  function isIdle (kind: Kind, time: number): boolean {
    return time - last[kind] >= longestPause || used() <= maxUsed[kind]
  }

  /** Begins what belongs in a turn; answers whether there was anything. */
  function beginSome (time: number, open: Open): boolean {
    for (let begun = 0; begun < batch; begun++) {
      const part = leastOf(waiting, open)
      if (part === undefined) break
      const kind = kindOf(part)
      open[kind]--
      const [line, first] = takeFrom(part)
      if (part.newLines.size === 0 && part.lines.size === 0) waiting.delete(part)
      if (line !== undefined) shares.begin(part, line, time)
      first?.()
      last[kind] = time
      used = measure()
      begunAt = time
    }
    return begunAt !== undefined
  }

  return {
    accepted () {
      hasAccepted = true
      come()
    },
    next (owner, line = '') {
      const time = now()
      const part = shares.of(owner, line, time)
      const max = shares.max()
      const hasLess = part.begun + few <= max
      if (part.begun * farLess + few <= max) sharedUntil = time + 2 * halfLife
      if (hasLess || time >= sharedUntil && !hasAccepted && waiting.size === 0) {
        shares.begin(part, line, time)
        return undefined
      }
      const { promise, resolve }: PromiseWithResolvers<void> = Promise.withResolvers()
      const isNew = !part.lines.has(line) && !shares.knows(line)
      ;(isNew ? part.newLines : part.lines).getOrInsertComputed(line, () => []).push(resolve)
      waiting.add(part)
      come()
      return promise
    }
  }
}

/** Takes the caller whose turn it is out of a part, of the lines that come new first, with the name of its line. */
function takeFrom ({ newLines, lines }: Part): [line?: string, caller?: () => void] {
  const of = newLines.size > 0 ? newLines : lines
  for (const [line, callers] of of) {
    const first = callers.shift()
    of.delete(line)
    // To the end of the circle.
    if (callers.length > 0) lines.set(line, callers)
    return first === undefined ? [line] : [line, first]
  }
  return []
}

/** The one that has begun least, of those that may begin. */
function leastOf (waiting: ReadonlySet<Part>, open: Open): Part | undefined {
  let least: Part | undefined
  for (const part of waiting) if (open[kindOf(part)] > 0 && (least === undefined || part.begun < least.begun)) least = part
  return least
}

function kindOf ({ isQueue }: Part): Kind {
  return isQueue ? 'lines' : 'companies'
}

function measureLoop (): () => number {
  const begun = performance.eventLoopUtilization()
  return () => performance.eventLoopUtilization(begun).utilization
}
