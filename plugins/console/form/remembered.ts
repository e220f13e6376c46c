import { hash } from 'node:crypto'

/**
 * Keeps what was made last, `max` of it, by the digest of all that it was made of. It is for what is made again and again of the same
 * things, such as the form of a template that many open, and takes longer to make than these take to be digested.
 */
export function createRemembered<Value> (max: number): (of: unknown, make: () => Value) => Value {
  const known = new Map<string, Value>()
  return (of, make) => {
    const key = hash('sha256', JSON.stringify(of))
    const value = known.get(key) ?? make()
    // The one that was used last stands last.
    known.delete(key)
    known.set(key, value)
    if (known.size > max) known.delete(known.keys().next().value ?? '')
    return value
  }
}
