/** The objects that all code of a process shares, by name. */
const shared: Readonly<Record<string, object>> = {
  globalThis,
  Object,
  Array,
  Promise,
  JSON,
  Math,
  Reflect,
  Date,
  console,
  'Object.prototype': Object.prototype,
  'Function.prototype': Function.prototype,
  'Array.prototype': Array.prototype,
  'String.prototype': String.prototype,
  'Number.prototype': Number.prototype,
  'RegExp.prototype': RegExp.prototype,
  'Promise.prototype': Promise.prototype,
  'Date.prototype': Date.prototype,
  'Map.prototype': Map.prototype,
  'Set.prototype': Set.prototype,
  'Error.prototype': Error.prototype,
  'Uint8Array.prototype': Uint8Array.prototype
}

/** How shared objects stood when this was called; the result tells, in a sentence each, what was changed since, and changes it back. */
export function watchGlobals (): () => string[] {
  const before = Object.entries(shared).map(([name, object]) => ({ name, object, own: Object.getOwnPropertyDescriptors(object) }))
  return () =>
    before.flatMap(({ name, object, own }) => restored(name, object, new Map(Reflect.ownKeys(own).map((key) => [key, own[key as string]]))))
}

type Own = ReadonlyMap<PropertyKey, PropertyDescriptor | undefined>

function restored (name: string, object: object, own: Own): string[] {
  const added = Reflect.ownKeys(object).filter((key) => !own.has(key)).map((key) => {
    Reflect.deleteProperty(object, key)
    return `${name}.${String(key)} was added.`
  })
  const changed = [...own].flatMap(([key, was]) => {
    const is = Object.getOwnPropertyDescriptor(object, key)
    // Node replaces some of its own getters by values when they are first read.
    if (was === undefined || (is !== undefined && (!('value' in was) || Object.is(is.value, was.value)))) return []
    Object.defineProperty(object, key, was)
    return [`${name}.${String(key)} was ${is === undefined ? 'removed' : 'replaced'}.`]
  })
  return [...added, ...changed]
}
