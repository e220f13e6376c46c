type Owner = number | string

/**
 * Tells of one who begins something, such as a company by its id, whether another one has in the last `within` milliseconds. `now`:
 * milliseconds of a clock that only counts.
 */
export function createOthersLately (within: number, now: () => number = () => performance.now()): {
  begin: (owner: Owner) => void
  besides: (owner: Owner) => boolean
} {
  let last: { owner?: Owner, at: number } = { at: -Infinity }
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
