/** Who has begun something lately, such as companies by their ids. */
export type RecentOthers = {
  begin: (owner: number) => void
  /** Whether another one than this has. */
  besides: (owner: number) => boolean
}

/** Remembers who has begun something in the last `within` milliseconds. `now`: milliseconds of a clock that only counts. */
export function createRecentOthers (within: number, now: () => number = () => performance.now()): RecentOthers {
  let last: { owner?: number, at: number } = { at: -Infinity }
  /** When one that is not the last one has begun. */
  let before = -Infinity
  return {
    begin (owner) {
      if (owner !== last.owner) before = last.at
      last = { owner, at: now() }
    },
    besides: (owner) => now() - (owner === last.owner ? before : last.at) < within
  }
}
