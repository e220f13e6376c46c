import { createGate, type Gate } from './gate.ts'
import { ThreadsBusy } from './threads.ts'

/** Lets everybody take turns: one job of each company at a time, so that none can hold up the others. */
export type Turns = {
  /** Runs a job when it is the company's turn; rejects with {@link ThreadsBusy} when too many of its own wait already. */
  take: <T>(companyId: number, job: () => Promise<T>) => Promise<T>
}

/** `waiting`: how many jobs of a company may wait. */
export function createTurns (waiting: number): Turns {
  const lines = new Map<number, { gate: Gate, jobs: number }>()
  return {
    async take (companyId, job) {
      const line = lines.get(companyId) ?? { gate: createGate(1, waiting), jobs: 0 }
      lines.set(companyId, line)
      line.jobs++
      try {
        return await inside(line.gate, job)
      } finally {
        if (--line.jobs === 0) lines.delete(companyId)
      }
    }
  }
}

async function inside<T> (gate: Gate, job: () => Promise<T>): Promise<T> {
  if (!await gate.enter()) throw new ThreadsBusy('Too many jobs of the company are waiting.')
  try {
    return await job()
  } finally {
    gate.leave()
  }
}
