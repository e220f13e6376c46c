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
type Part = { begun: number, newLines: Lines, lines: Lines }

/** In this many milliseconds half of what has begun is forgotten. */
const halfLife = 1_000

/** Who has begun so many requests fewer than another one has begun less; who has begun less than half of what is left, far less. */
const few = 8

/** How many milliseconds a turn should take while somebody has begun far less, and how many requests begin in it at most. */
const [longestTurn, mostBegun] = [1, 4]

/** For how many turns in a row connections come first. */
const mostPassed = 7

/**
 * The turns of the event loop in which requests begin. Each step of a request waits for a turn of the loop, and the loop accepts one
 * connection in a turn, of whomever it is. So what begins in one turn decides how long all others wait at every step. Who has lately begun
 * less than the one with the most begins at once. While there is one that has begun far less, or connections come, the others begin in
 * turns, who has begun least first: as few in each as keep turns short, and after the connections. Otherwise, where all are alike or one
 * is alone, nobody waits. `now`: milliseconds of a clock that only counts.
 */
export function createLoopTurns (now: () => number = () => performance.now()): LoopTurns {
  const parts = new Map<Owner, Part>()
  const waiting = new Set<Part>()
  /** The lines that have begun something in this half-life, and in the one before. */
  let [recent, earlier] = [new Set<string>(), new Set<string>()]
  let [agedAt, sharedUntil] = [now(), -Infinity]
  /** The most that one has begun; how many begin in a turn; for how many turns in a row connections came first. */
  let [most, batch, passed] = [0, 1, 0]
  let begunAt: number | undefined
  let [isComing, hasAccepted] = [false, false]

  function age (time: number): void {
    if (time - agedAt < halfLife) return
    const left = 0.5 ** ((time - agedAt) / halfLife)
    agedAt = time
    ;[recent, earlier] = [new Set(), recent]
    most = 0
    for (const [owner, part] of parts) {
      part.begun *= left
      most = Math.max(most, part.begun)
      if (part.begun < 0.1 && !waiting.has(part)) parts.delete(owner)
    }
  }

  function begin (part: Part, line: string): void {
    part.begun++
    most = Math.max(most, part.begun)
    recent.add(line)
  }

  /** A turn comes when the loop has done what is ready. */
  function come (): void {
    if (isComing) return
    isComing = true
    setImmediate(turn)
  }

  function turn (): void {
    isComing = false
    const time = now()
    if (begunAt !== undefined) batch = time - begunAt > longestTurn ? Math.ceil(batch / 2) : Math.min(batch + 1, mostBegun)
    begunAt = undefined
    const isCrowded = hasAccepted || time < sharedUntil
    const waits = hasAccepted && passed < mostPassed
    hasAccepted = false
    passed = waits ? passed + 1 : 0
    if (waiting.size === 0) return
    if (!waits) {
      const count = isCrowded ? batch : Infinity
      for (let begun = 0; begun < count && waiting.size > 0; begun++) serve(leastOf(waiting))
      begunAt = time
    }
    come()
  }

  function serve (part: Part): void {
    const { newLines, lines } = part
    const of = newLines.size > 0 ? newLines : lines
    for (const [line, callers] of of) {
      const first = callers.shift()
      of.delete(line)
      // To the end of the circle.
      if (callers.length > 0) lines.set(line, callers)
      if (newLines.size === 0 && lines.size === 0) waiting.delete(part)
      begin(part, line)
      first?.()
      return
    }
  }

  return {
    accepted () {
      hasAccepted = true
      come()
    },
    next (owner, line = '') {
      const time = now()
      age(time)
      const part = parts.getOrInsertComputed(owner, () => ({ begun: 0, newLines: new Map(), lines: new Map() }))
      const hasLess = part.begun + few <= most
      if (part.begun * 2 + few <= most) sharedUntil = time + 2 * halfLife
      if (hasLess || time >= sharedUntil && !hasAccepted && waiting.size === 0) {
        begin(part, line)
        return undefined
      }
      const { promise, resolve }: PromiseWithResolvers<void> = Promise.withResolvers()
      const isNew = !part.lines.has(line) && !recent.has(line) && !earlier.has(line)
      ;(isNew ? part.newLines : part.lines).getOrInsertComputed(line, () => []).push(resolve)
      waiting.add(part)
      come()
      return promise
    }
  }
}

function leastOf (waiting: ReadonlySet<Part>): Part {
  return [...waiting].reduce((least, part) => part.begun < least.begun ? part : least)
}
