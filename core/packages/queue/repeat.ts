/** Work that is repeated, and never runs twice at the same time. */
export type RepeatingTask = {
  /** Resolves when the first run has ended, whether it failed or not. */
  first: Promise<void>
  /** Stops the repetition and waits for a run under way. */
  close: () => Promise<void>
}

/**
 * Does the work now, and then every so many `milliseconds`, unless the last run still goes on. `failed` is called with each error.
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
