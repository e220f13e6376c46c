/** How much of each kind there is. */
export type Counts = Readonly<Record<string, number>>

/** The same together: what several call by one word is added up. */
export function sumOfCounts (all: readonly Counts[]): Counts {
  const sums = new Map<string, number>()
  for (const [kind, count] of all.flatMap((one) => Object.entries(one))) sums.set(kind, (sums.get(kind) ?? 0) + count)
  return Object.fromEntries(sums)
}
