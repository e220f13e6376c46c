/** Writes many things at once, as those who have them come together. */
export type Batcher<Item> = {
  /** Resolves when the item has been written with others; rejects when they could not be. */
  put: (item: Item) => Promise<void>
  /** How many items wait, those being written included. */
  waiting: () => number
  /** Resolves when nothing waits. */
  drain: () => Promise<void>
}

/** The bounds of one group: how many items, and how many bytes they may have together before no more are added. */
export type BatchLimits = { items: number, bytes: number }

type Options<Item> = { write: (items: readonly Item[]) => Promise<unknown>, bytesOf: (item: Item) => number, limits: BatchLimits }

/** While one group is written the next one gathers: many items cost few commits. */
export function createBatcher<Item> ({ write, bytesOf, limits }: Options<Item>): Batcher<Item> {
  let pending: { item: Item, done: PromiseWithResolvers<undefined> }[] = []
  let writing: Promise<void> | undefined
  let underWay = 0

  function groupSize (): number {
    let bytes = 0
    const full = pending.findIndex(({ item }, index) => index >= limits.items || (bytes += bytesOf(item)) > limits.bytes)
    return full === -1 ? pending.length : Math.max(1, full)
  }

  async function run (): Promise<void> {
    // Those who come in the same turn of the event loop belong to the first group.
    await Promise.resolve()
    while (pending.length > 0) {
      const group = pending.slice(0, groupSize())
      pending = pending.slice(group.length)
      underWay = group.length
      try {
        await write(group.map(({ item }) => item))
        for (const { done } of group) done.resolve(undefined)
      } catch (error) {
        for (const { done } of group) done.reject(error)
      }
      underWay = 0
    }
    writing = undefined
  }

  return {
    put (item) {
      const done = Promise.withResolvers<undefined>()
      pending.push({ item, done })
      writing ??= run()
      return done.promise
    },
    waiting: () => pending.length + underWay,
    async drain () {
      await writing
    }
  }
}
