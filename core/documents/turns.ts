import { createGate, type Gate } from './gate.ts'
import { ThreadsBusy } from './threads.ts'

/** Whoever takes turns: a company by its id, a client by its name. */
type Whose = number | string

/** Lets everybody take turns: so many jobs of each company or client at a time, in their order, so that none can hold up the others. */
export type Turns = {
  /** Waits for a turn of its own; answers how to end it (more than once is harmless), or undefined at once when too many of its own wait already. */
  begin: (whose: Whose) => Promise<(() => void) | undefined>
  /** Runs a job when it is its turn; rejects with {@link ThreadsBusy} when too many of its own wait already. */
  take: <T>(whose: Whose, job: () => Promise<T>) => Promise<T>
}

/**
 * `waiting`: how many jobs of a company or client may wait; `atOnce`: how many of them take their turn at the same time; `together`: how
 * many of all do.
 */
export function createTurns (waiting: number, atOnce = 1, together = Infinity): Turns {
  const lines = new Map<Whose, { gate: Gate, jobs: number }>()
  const all = createGate(together, Infinity)

  async function begin (whose: Whose): Promise<(() => void) | undefined> {
    const line = lines.get(whose) ?? { gate: createGate(atOnce, waiting), jobs: 0 }
    lines.set(whose, line)
    line.jobs++
    const entered = await line.gate.enter()
    const leave = (): void => { if (--line.jobs === 0) lines.delete(whose) }
    if (!entered) {
      leave()
      return undefined
    }
    await all.enter()
    return once(() => { all.leave(); line.gate.leave(); leave() })
  }

  return {
    begin,
    async take (whose, job) {
      const end = await begin(whose)
      if (end === undefined) throw new ThreadsBusy('Too many jobs of the company are waiting.')
      try {
        return await job()
      } finally {
        end()
      }
    }
  }
}

function once (work: () => void): () => void {
  let done = false
  return () => {
    if (!done) work()
    done = true
  }
}
