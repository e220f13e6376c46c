import { withTimeLimit } from '@dispatch/common'
import { DatabaseUnavailable } from '../db/unavailable.ts'

/** Keeps each company to its share of what all have together. */
export type CompanySemaphore = {
  /** Does the work when the company has a place for it. Throws {@link DatabaseUnavailable} (`busy`) when none comes free in time. */
  run: <T>(companyId: number, work: () => Promise<T>) => Promise<T>
}

type Line = { taken: number, waiting: Set<() => void> }

/** `each`: places of a company; `patience`: milliseconds that work waits for one. */
export function createCompanySemaphore ({ each, patience }: { each: number, patience: number }): CompanySemaphore {
  const lines = new Map<number, Line>()

  async function enter (line: Line): Promise<void> {
    if (line.taken < each) {
      line.taken++
      return
    }
    const { promise, resolve } = Promise.withResolvers<undefined>()
    const turn = (): void => resolve(undefined)
    line.waiting.add(turn)
    await withTimeLimit(patience, promise, () => {
      line.waiting.delete(turn)
      return new DatabaseUnavailable('busy')
    })
  }

  /** Whoever has waited longest gets the place. */
  function leave (companyId: number, line: Line): void {
    const [next] = line.waiting
    if (next !== undefined) {
      line.waiting.delete(next)
      next()
    } else if (--line.taken === 0) lines.delete(companyId)
  }

  return {
    async run (companyId, work) {
      const line = lines.get(companyId) ?? { taken: 0, waiting: new Set() }
      lines.set(companyId, line)
      await enter(line)
      try {
        return await work()
      } finally {
        leave(companyId, line)
      }
    }
  }
}
