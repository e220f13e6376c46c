/** A life of a database, and how far it had come in it. */
export type Seen = { lineage: string, epoch: number }

/** What a process has seen of its database: whatever is begun tells it, so that a database that is behind refuses. */
export type LifeMemory = {
  /** For what is begun. Undefined where nobody follows the database, as in a command. */
  seen: () => Seen | undefined
  /** `advanced`: this process has brought it so far. */
  note: (seen: Seen, how: { advanced: boolean }) => void
  /** Whether something was begun since this process last brought the database further. */
  isBehindWork: () => boolean
}

/** Remembers which life of the database was seen last, for those who ask at the same time. */
export function createLifeMemory (): LifeMemory {
  let last: Seen | undefined
  let [begun, covered] = [0, 0]
  /** How much had begun when the database was last asked: what begins meanwhile may not be covered. */
  let requested = 0
  return {
    seen () {
      begun++
      return last
    },
    note ({ lineage, epoch }, { advanced }) {
      last = { lineage, epoch }
      if (advanced) covered = requested
    },
    isBehindWork () {
      requested = begun
      return begun > covered
    }
  }
}
