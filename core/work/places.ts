/** Room for so much work at once. */
export type Places = {
  /** Begins the work when there is a place for it, which it has until its end; resolves when the work calls `begun`, or with it. */
  begin: (work: (begun: () => void) => Promise<unknown>) => Promise<void>
}

export function createPlaces (most: number): Places {
  const waiting: (() => void)[] = []
  let free = most

  async function enter (): Promise<void> {
    if (free > 0) free--
    else await new Promise<void>((resolve) => waiting.push(resolve))
  }

  /** Whoever has waited longest gets the place. */
  function leave (): void {
    const next = waiting.shift()
    if (next === undefined) free++
    else next()
  }

  return {
    async begin (work) {
      await enter()
      const begun = Promise.withResolvers<undefined>()
      await Promise.race([begun.promise, work(() => begun.resolve(undefined)).finally(leave)])
    }
  }
}
