/** Runs one after the other, because a stage has one vendor. */
export async function inTurn<Item, Result> (items: readonly Item[], work: (item: Item) => Promise<Result>): Promise<Result[]> {
  const results: Result[] = []
  for (const item of items) results.push(await work(item))
  return results
}
