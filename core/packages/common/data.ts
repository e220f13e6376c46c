import { type Json, type JsonObject, pointer } from './json.ts'

/** The value at a JSON pointer, or undefined where there is none. Only own fields are followed. */
export function at (data: Json, pointer: string): Json | undefined {
  let value: Json | undefined = data
  for (const token of pointer.split('/').slice(1)) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, token)) return undefined
    value = (value as JsonObject)[token]
  }
  return value
}

/** The text or number at a JSON pointer, as a text. */
export function textOf (data: Json, pointer: string): string | undefined {
  const value = at(data, pointer)
  return typeof value === 'string' || typeof value === 'number' ? String(value) : undefined
}

/** A text in any spacing, for comparison. */
export function spaced (text: string): string {
  return text.trim().replaceAll(/\s+/g, ' ')
}

/** A list as it is, one value as a list of it, nothing as an empty list: XML does not tell a list of one element from an element. */
export function listOf<Item> (value: Item | readonly Item[] | undefined): readonly Item[] {
  if (value === undefined) return []
  return isList(value) ? value : [value]
}

function isList<Item> (value: Item | readonly Item[]): value is readonly Item[] {
  return Array.isArray(value)
}

/** 200 characters: the longest value that a query can search for, far below the limit of a PostgreSQL index. */
const beginning = /^.{0,200}/su

/** `{ [name]: text }` when a text or number stands at the pointer, with no more than its first 200 characters; `{}` when not. */
export function textAt<Name extends string> (data: Json, pointer: string, name: Name): Partial<Record<Name, string>> {
  const whole = textOf(data, pointer)
  if (whole === undefined) return {}
  const [text = ''] = beginning.exec(whole) ?? []
  return { [name]: text } as Record<Name, string>
}

type Place = { path: string, value: Json }

/** The values at a pointer, in which `*` stands for every item and every field. */
export function placesAt (requested: JsonObject, at: string): Place[] {
  return at.split('/').slice(1).reduce<Place[]>((places, token) =>
    places.flatMap(({ path, value }) => {
      if (typeof value !== 'object' || value === null) return []
      const fields = Object.entries<Json>(value as JsonObject)
      return (token === '*' ? fields : fields.filter(([name]) => name === token)).map(([name, field]) => ({
        path: pointer(path, name),
        value: field
      }))
    }), [{ path: '', value: requested }])
}
