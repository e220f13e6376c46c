/** Calls a function once for each object, and keeps the result as long as the object lives. */
export function memoizeByIdentity<Key extends object, Value extends object> (make: (key: Key) => Value): (key: Key) => Value {
  const known = new WeakMap<Key, Value>()
  return (key) => {
    const before = known.get(key)
    if (before !== undefined) return before
    const value = make(key)
    known.set(key, value)
    return value
  }
}
