import { LRUCache } from 'lru-cache'

/** Keeps the results for the `max` keys that were used last. */
export function memoizeLru<T extends object> (max: number, make: (key: string) => T): (key: string) => T {
  const memory = new LRUCache<string, T>({ max })
  return (key) => {
    const known = memory.get(key)
    if (known !== undefined) return known
    const made = make(key)
    memory.set(key, made)
    return made
  }
}
