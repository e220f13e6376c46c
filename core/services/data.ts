import type { Json, JsonObject } from '../contract/json.ts'

/** The value at a JSON pointer, or undefined where there is none. Only own fields are followed. */
export function at (data: Json, pointer: string): Json | undefined {
  let value: Json | undefined = data
  for (const token of pointer.split('/').slice(1)) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, token)) return undefined
    value = (value as JsonObject)[token]
  }
  return value
}

/** `{ [name]: text }` when a text or number stands at the pointer, `{}` when not. */
export function textAt<Name extends string> (data: Json, pointer: string, name: Name): Partial<Record<Name, string>> {
  const value = at(data, pointer)
  return typeof value === 'string' || typeof value === 'number' ? { [name]: String(value) } as Record<Name, string> : {}
}
