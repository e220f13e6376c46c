import { LRUCache } from 'lru-cache'
import type { Freshness } from './freshness.ts'

type Entry<V> = { number: number, value: Promise<V> }

/** Values read from the database, kept until what they depend on changes. */
export type FreshCache<K extends string | number, V> = {
  /** The value as of the last {@link Freshness.check}; `read` runs when there is none that is still valid. */
  get: (key: K, read: () => Promise<V>) => Promise<V>
}

/**
 * A bounded cache. `companyOf` tells whose changes end a value (0: any change does). Readers that come together share
 * one read; a failed read is not kept.
 */
export function createFreshCache<K extends string | number, V> (freshness: Freshness, companyOf: (key: K, value: V) => number, max = 10_000): FreshCache<K, V> {
  const entries = new LRUCache<K, Entry<V>>({ max })
  const companies = new WeakMap<Entry<V>, number>()

  function isValid (entry: Entry<V>): boolean {
    // Until the value is there, any change could be its company's.
    return freshness.unchanged(companies.get(entry) ?? 0, entry.number)
  }

  return {
    get (key, read) {
      const known = entries.get(key)
      if (known !== undefined && isValid(known)) return known.value
      const entry: Entry<V> = { number: freshness.number(), value: read() }
      entries.set(key, entry)
      entry.value.then(
        (value) => companies.set(entry, companyOf(key, value)),
        () => { if (entries.peek(key) === entry) entries.delete(key) }
      )
      return entry.value
    }
  }
}
