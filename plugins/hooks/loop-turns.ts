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

/** Who has begun so many requests fewer than another one has begun less. */
const few = 8

/** Turns of the loop for each request that begins, while others need the loop too: a turn of which most do nothing takes microseconds. */
const turnsForEach = 8

/**
 * The turns of the event loop in which requests begin. Each step of a request waits for a turn of the loop, and the loop accepts one
 * connection in a turn, of whomever it is. So what begins in one turn decides how long all others wait at every step. Who has lately begun
 * less than the one with the most begins at once. The others begin one by one, who has begun least first: one in a turn while
 * they are alone with each other, one in eight while somebody is there who has begun less, or while connections come, which are
 * accepted first. `now`: milliseconds of a clock that only counts.
 */
export function createLoopTurns (now: () => number = () => performance.now()): LoopTurns {
  const parts = new Map<Owner, Part>()
  const waiting = new Set<Part>()
  /** The lines that have begun something in this half-life, and in the one before. */
  let [recent, earlier] = [new Set<string>(), new Set<string>()]
  let [agedAt, sharedUntil] = [now(), -Infinity]
  let [most, passed] = [0, 0]
  let [isTaken, hasAccepted] = [false, false]

  function age (): void {
    const time = now()
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
    take()
  }

  /** This turn of the loop is taken, and the next one is looked at. */
  function take (): void {
    if (isTaken) return
    isTaken = true
    setImmediate(pass)
  }

  function pass (): void {
    isTaken = false
    const turns = hasAccepted || now() < sharedUntil ? turnsForEach : 1
    hasAccepted = false
    passed++
    if (waiting.size === 0) return
    if (passed < turns) take()
    else {
      passed = 0
      serve(leastOf(waiting))
    }
  }

  function serve (part: Part): void {
    const { newLines, lines } = part
    const of = newLines.size > 0 ? newLines : lines
    for (const [line, [first, ...rest]] of of) {
      of.delete(line)
      // To the end of the circle.
      if (rest.length > 0) lines.set(line, rest)
      if (newLines.size === 0 && lines.size === 0) waiting.delete(part)
      begin(part, line)
      first?.()
      return
    }
  }

  return {
    accepted () {
      hasAccepted = true
      take()
    },
    next (owner, line = '') {
      age()
      const part = parts.getOrInsertComputed(owner, () => ({ begun: 0, newLines: new Map(), lines: new Map() }))
      const hasLess = part.begun + few <= most
      if (hasLess) sharedUntil = agedAt + 2 * halfLife
      if (hasLess || !isTaken) {
        begin(part, line)
        return undefined
      }
      const { promise, resolve }: PromiseWithResolvers<void> = Promise.withResolvers()
      const isNew = !part.lines.has(line) && !recent.has(line) && !earlier.has(line)
      ;(isNew ? part.newLines : part.lines).getOrInsertComputed(line, () => []).push(resolve)
      waiting.add(part)
      return promise
    }
  }
}

function leastOf (waiting: ReadonlySet<Part>): Part {
  return [...waiting].reduce((least, part) => part.begun < least.begun ? part : least)
}
