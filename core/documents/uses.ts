import { pointer } from '../contract/json.ts'
import { isRecord } from './records.ts'

/** Field names from the root of the data; items of a list are read through the list's own name. */
export type Path = readonly string[]

/** A path that the template reads, with the place where it does: `whole` values are shown, `list`s looped over, others only asked for. */
export type Read = { path: Path, as: 'whole' | 'list' | 'test', at: string }

/** The fields that a template reads, as a tree; lists are looked through. `whole`: everything below counts as read. */
export type Uses = { whole: boolean, readonly fields: Map<string, Uses> }

export function noUses (): Uses {
  return { whole: false, fields: new Map() }
}

/** Adds a path to the tree. */
export function use (uses: Uses, path: Path, as: Read['as']): void {
  let node = uses
  for (const name of path) {
    const child = node.fields.get(name) ?? noUses()
    node.fields.set(name, child)
    node = child
  }
  if (as === 'whole') node.whole = true
}

/** JSON pointers of the data's fields that the template never reads; of a list, the first item that has the field. */
export function unread (uses: Uses, data: unknown): string[] {
  const found: string[] = []
  visit(uses, data, '', '', new Set(), found)
  return found
}

function visit (uses: Uses, value: unknown, at: string, pattern: string, seen: Set<string>, found: string[]): void {
  if (uses.whole) return
  if (Array.isArray(value)) {
    for (let index = 0; index < value.length; index++) visit(uses, value[index], `${at}/${String(index)}`, pattern, seen, found)
  } else if (isRecord(value)) {
    for (const name of Object.keys(value)) visitField(uses, value[name], name, at, pattern, seen, found)
  }
}

function visitField (uses: Uses, value: unknown, name: string, at: string, parent: string, seen: Set<string>, found: string[]): void {
  const child = uses.fields.get(name)
  if (child !== undefined) {
    visit(child, value, pointer(at, name), pointer(parent, name), seen, found)
    return
  }
  const pattern = pointer(parent, name)
  if (seen.has(pattern)) return
  seen.add(pattern)
  found.push(pointer(at, name))
}
