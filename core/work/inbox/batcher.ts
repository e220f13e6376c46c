/** Collects items and writes them in groups. */
export type Batcher<Item> = {
  /** Resolves when the group of the item has been written; rejects when it could not be. */
  put: (item: Item) => Promise<void>
  /** How many items wait or are being written. */
  waiting: () => number
  /** Resolves when nothing waits. */
  drain: () => Promise<void>
}

/** The limits of one group: its items, and their bytes together. A single larger item is a group of its own. */
export type BatchLimits = { items: number, bytes: number }

type Options<Item> = { write: (items: readonly Item[]) => Promise<unknown>, bytesOf: (item: Item) => number, limits: BatchLimits }

/** Collects the next group while one is written: many items need few commits. */
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
    // Items that are put in the same turn of the event loop belong to the first group.
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
