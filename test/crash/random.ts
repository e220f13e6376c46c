/** Numbers that a seed repeats. */
export type Random = {
  /** From 0 up to, and without, `end`. */
  below: (end: number) => number
  pick: <Item>(items: readonly [Item, ...Item[]]) => Item
  /** True in so many of a hundred cases. */
  chance: (percent: number) => boolean
}

/** Mulberry32: a generator of 32 bits of state, enough to choose with. */
export function createRandom (seed: number): Random {
  let state = seed | 0
  const next = (): number => {
    state = (state + 0x6D2B79F5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
  const below = (end: number): number => Math.floor(next() * end)
  return { below, pick: (items) => items[below(items.length)] ?? items[0], chance: (percent) => below(100) < percent }
}
