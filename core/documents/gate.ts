/** Lets a number of callers in at a time; the others wait in their order. */
export type Gate = {
  /** Waits for a place; false at once when too many wait already. */
  enter: () => Promise<boolean>
  leave: () => void
}

/** `places` callers may be inside, `waiting` more may wait. */
export function createGate (places: number, waiting: number): Gate {
  const queue: (() => void)[] = []
  let free = places
  return {
    async enter () {
      if (free > 0) {
        free--
        return true
      }
      if (queue.length >= waiting) return false
      await new Promise<void>((resolve) => { queue.push(resolve) })
      return true
    },
    leave () {
      const next = queue.shift()
      if (next === undefined) free++
      else next()
    }
  }
}
