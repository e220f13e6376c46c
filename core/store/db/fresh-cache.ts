import { LRUCache } from 'lru-cache'
import type { Freshness } from './freshness.ts'

type Entry<V> = { number: number, value: Promise<V> }

/** Values read from the database, kept until what they depend on changes. */
export type FreshCache<K extends string | number, V> = {
  /** The value as of the last {@link Freshness.check}; `read` runs when there is none that is still valid. */
  get: (key: K, read: () => Promise<V>) => Promise<V>
}

/** What all values together may weigh: each 1, unless some are heavier than others. */
type Bound<V> = { max?: number, weigh?: (value: V) => number }

/**
 * A bounded cache. `companyOf` tells whose changes end a value (0: any change does). Readers that come together share
 * one read; a failed read is not kept.
 */
export function createFreshCache<K extends string | number, V> (
  freshness: Freshness,
  companyOf: (key: K, value: V) => number,
  { max = 10_000, weigh = () => 1 }: Bound<V> = {}
): FreshCache<K, V> {
  const entries = new LRUCache<K, Entry<V>>({ maxSize: max })
  const companies = new WeakMap<Entry<V>, number>()

  function isValid (entry: Entry<V>): boolean {
    // Until the value is there, any change could be its company's.
    return freshness.unchanged(companies.get(entry) ?? 0, entry.number)
  }

  /** Only a value that is there can be weighed, and an entry that is there already keeps its weight: another one takes its place. */
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
