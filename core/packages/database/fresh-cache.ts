import { LRUCache } from 'lru-cache'
import type { Freshness } from './freshness.ts'

type Entry<V> = { number: number, value: Promise<V> }

/** Caches values from the database until the data behind them changes. */
export type FreshCache<K extends string | number, V> = {
  /** The value as of the last {@link Freshness.check}. `read` runs where there is no valid one. */
  get: (key: K, read: () => Promise<V>) => Promise<V>
}

/** The weight of all values together. Each weighs 1 unless told. */
type Bound<V> = { max?: number, weigh?: (value: V) => number }

/**
 * Makes a bounded cache. `companyOf`: the company whose changes make a value invalid (0: any change does). Concurrent readers share one
 * read. A failed read is not kept.
 */
export function createFreshCache<K extends string | number, V> (
  freshness: Freshness,
  companyOf: (key: K, value: V) => number,
  { max = 10_000, weigh = () => 1 }: Bound<V> = {}
): FreshCache<K, V> {
  const entries = new LRUCache<K, Entry<V>>({ maxSize: max })
  const companies = new WeakMap<Entry<V>, number>()

  function isValid (entry: Entry<V>): boolean {
    // Until the value is read, its company is unknown: any change counts.
    return freshness.unchanged(companies.get(entry) ?? 0, entry.number)
  }

  /** A value has a weight once it is read. An existing entry keeps its weight, so a new entry replaces it. */
  function settle (key: K, entry: Entry<V>, value: V): void {
    const settled = { ...entry }
    for (const known of [entry, settled]) companies.set(known, companyOf(key, value))
    if (entries.peek(key) === entry) entries.set(key, settled, { size: weigh(value) })
  }

  return {
    get (key, read) {
      const known = entries.get(key)
      if (known !== undefined && isValid(known)) return known.value
      const entry: Entry<V> = { number: freshness.number(), value: read() }
      entries.set(key, entry, { size: 1 })
      entry.value.then(
        (value) => {
          settle(key, entry, value)
        },
        () => {
          if (entries.peek(key) === entry) entries.delete(key)
        }
      )
      return entry.value
    }
  }
}
