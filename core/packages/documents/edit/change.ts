import { isRecord, type Json } from '@dispatch/common'

/** An edit of a template: `path` is the JSON pointer of a field or of an item of a list. */
export type TextEdit =
  /** Undefined takes the field away. Fields around it that are not there are made. */
  | { do: 'set', path: string, value: Json | undefined }
  /** `text`: a list of one item, as YAML. A list that is not there is made. */
  | { do: 'insert', list: string, index: number, text: string }
  | { do: 'remove', path: string }
  /** Changes places with the item after it (1) or before it (-1). */
  | { do: 'move', path: string, by: 1 | -1 }

/** The names and numbers of a JSON pointer. */
export function keysOf (path: string): string[] {
  return path.split('/').slice(1).map((key) => key.replaceAll('~1', '/').replaceAll('~0', '~'))
}

/** The list in which an item stands, and the number of the item. */
export function placeIn (path: string): { list: string, index: number } {
  const end = path.lastIndexOf('/')
  return { list: path.slice(0, end), index: Number(path.slice(end + 1)) }
}

export function valueAt (value: unknown, keys: readonly string[]): unknown {
  return keys.reduce<unknown>(
    (found, key) =>
      typeof found === 'object' && found !== null && Object.hasOwn(found, key) ? (found as Record<string, unknown>)[key] : undefined,
    value
  )
}

/** What a template is after an edit; undefined where there is no such place. `item`: what is inserted. */
export function changed (value: unknown, edit: TextEdit, item: unknown): unknown {
  if (edit.do === 'set') return withValue(value, keysOf(edit.path), edit.value)
  const { list, index } = edit.do === 'insert' ? edit : placeIn(edit.path)
  const keys = keysOf(list)
  const items: unknown = valueAt(value, keys) ?? (edit.do === 'insert' ? [] : undefined)
  if (!Array.isArray(items) || index < 0 || index >= items.length + (edit.do === 'insert' ? 1 : 0)) return undefined
  if (edit.do === 'insert') return withValue(value, keys, items.toSpliced(index, 0, item))
  if (edit.do === 'remove') return withValue(value, keys, items.toSpliced(index, 1))
  const other = index + edit.by
  return items[other] === undefined ? undefined : withValue(value, keys, items.with(index, items[other]).with(other, items[index]))
}

function withValue (value: unknown, [key, ...keys]: readonly string[], set: unknown): unknown {
  if (key === undefined) return set
  if (Array.isArray(value)) return Object.hasOwn(value, key) ? value.with(Number(key), withValue(value[Number(key)], keys, set)) : undefined
  if (!isRecord(value) && value !== undefined && value !== null) return undefined
  const before = value ?? {}
  const inner = withValue(Object.hasOwn(before, key) ? before[key] : undefined, keys, set)
  if (inner !== undefined) return { ...before, [key]: inner }
  const { [key]: _, ...others } = before
  return keys.length === 0 ? others : undefined
}
