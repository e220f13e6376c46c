/** Work that is done again and again, never twice at once. */
export type RepeatingTask = {
  /** Resolves when the work was done, or has failed, for the first time. */
  first: Promise<void>
  /** Begins it no more, and waits for what is under way. */
  close: () => Promise<void>
}

/**
 * Does the work now, and again after every so many `milliseconds` unless the last time still goes on. `failed` hears of each time that it
 * rejects.
 */
export function runEvery (milliseconds: number, work: () => Promise<void>, failed: (error: unknown) => void): RepeatingTask {
  let working: Promise<void> | undefined
  const begin = (): void => {
    working ??= work().catch(failed).finally(() => {
      working = undefined
    })
  }
  begin()
  const first = Promise.resolve(working)
  const timer = setInterval(begin, milliseconds)
  return {
    first,
    async close () {
      clearInterval(timer)
      await working
    }
  }
}
