import { LRUCache } from 'lru-cache'

/**
 * A cache of the entries that were used last, `max` of them at most. It takes room for those that it has: with lru-cache's own `max`, it
 * would take it for all of them at once, and a start would take longer.
 */
export function createRecent<
  Key extends object | string | number,
  Value extends object | string | number | boolean
> (max: number): LRUCache<Key, Value> {
  return new LRUCache({ maxSize: max, sizeCalculation: () => 1 })
}
