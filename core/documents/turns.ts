import { createGate, type Gate } from './gate.ts'
import { ThreadsBusy } from './threads.ts'

/** Lets everybody take turns: so many jobs of each company at a time, in their order, so that none can hold up the others. */
export type Turns = {
  /** Waits for a turn of the company; answers how to end it (more than once is harmless), or undefined at once when too many of its own wait already. */
  begin: (companyId: number) => Promise<(() => void) | undefined>
  /** Runs a job when it is the company's turn; rejects with {@link ThreadsBusy} when too many of its own wait already. */
  take: <T>(companyId: number, job: () => Promise<T>) => Promise<T>
}

/** `waiting`: how many jobs of a company may wait; `atOnce`: how many take their turn at the same time. */
export function createTurns (waiting: number, atOnce = 1): Turns {
  const lines = new Map<number, { gate: Gate, jobs: number }>()

  async function begin (companyId: number): Promise<(() => void) | undefined> {
    const line = lines.get(companyId) ?? { gate: createGate(atOnce, waiting), jobs: 0 }
    lines.set(companyId, line)
    line.jobs++
    const entered = await line.gate.enter()
    const leave = (): void => { if (--line.jobs === 0) lines.delete(companyId) }
    if (entered) return once(() => { line.gate.leave(); leave() })
    leave()
    return undefined
  }

  return {
    begin,
    async take (companyId, job) {
      const end = await begin(companyId)
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
