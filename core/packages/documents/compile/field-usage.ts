import { isRecord, pointer } from '@dispatch/common'

/** Field names from the root of the data. The items of a list are read through the list's own name. */
export type Path = readonly string[]

/**
 * A path that the template reads, with the place of the reading. `whole`: the value is shown. `list`: a loop uses it. Otherwise, only its
 * presence is checked.
 */
export type Read = { path: Path, as: 'whole' | 'list' | 'test', at: string }

/** The fields that a template reads, as a tree; the level of lists is skipped. `whole`: everything below counts as read. */
export type FieldUsage = { whole: boolean, readonly fields: Map<string, FieldUsage> }

export function emptyFieldUsage (): FieldUsage {
  return { whole: false, fields: new Map() }
}

/** Adds a path to the tree. */
export function markUsed (uses: FieldUsage, path: Path, as: Read['as']): void {
  let node = uses
  for (const name of path) {
    const child = node.fields.get(name) ?? emptyFieldUsage()
    node.fields.set(name, child)
    node = child
  }
  if (as === 'whole') node.whole = true
}

/** JSON pointers of the fields in the data that the template never reads. For a list, the first item with the field. */
export function unreadFields (uses: FieldUsage, data: unknown): string[] {
  const found: string[] = []
  visit(uses, data, '', new Map(), found)
  return found
}

/** `reported`: the names of unread fields that were already found, by the place in the tree where they are missing. */
function visit (uses: FieldUsage, value: unknown, at: string, reported: Map<FieldUsage, Set<string>>, found: string[]): void {
  if (uses.whole) return
  if (Array.isArray(value)) {
    for (let index = 0; index < value.length; index++) visit(uses, value[index], pointer(at, index), reported, found)
  } else if (isRecord(value)) {
    for (const name of Object.keys(value)) visitField(uses, name, value[name], at, reported, found)
  }
}

function visitField (
  uses: FieldUsage,
  name: string,
  value: unknown,
  at: string,
  reported: Map<FieldUsage, Set<string>>,
  found: string[]
): void {
  const child = uses.fields.get(name)
  if (child === undefined) {
    const names = reported.get(uses) ?? new Set()
    if (!names.has(name)) found.push(pointer(at, name))
    reported.set(uses, names.add(name))
  } else if (typeof value === 'object') {
    visit(child, value, pointer(at, name), reported, found)
  }
}
