import { isRecord, pointer } from '@dispatch/common'
import type { FieldUsage } from '../compile/field-usage.ts'
import { referent, type Schema, type SchemaPlace } from '../model/subschemas.ts'

/**
 * JSON pointers of the fields of a schema that the template never shows; only the outermost of each. The many unused fields of a vocabulary
 * are left out.
 */
export function unusedFields (root: Schema, uses: FieldUsage): string[] {
  const seen = new Map<Schema, Set<FieldUsage>>()
  const found = new Set<string>()
  visit({ node: root, path: '' }, uses)
  return [...found]

  function visit (place: SchemaPlace, uses: FieldUsage): void {
    const before = seen.get(place.node) ?? new Set()
    // References between schemas may be circular.
    if (uses.whole || before.has(uses)) return
    seen.set(place.node, before.add(uses))
    for (const { name, ...field } of fieldsOf(place)) {
      const below = uses.fields.get(name)
      if (below === undefined) found.add(field.path)
      else visit(field, below)
    }
    for (const other of othersOf(place, root)) visit(other, uses)
  }
}

function fieldsOf ({ node: { properties }, path }: SchemaPlace): (SchemaPlace & { name: string })[] {
  return isRecord(properties)
    ? Object.entries(properties).map(([name, node]) => ({
      name,
      node: isRecord(node) ? node : {},
      path: pointer(pointer(path, 'properties'), name)
    }))
    : []
}

/** The schemas of the same value, and of the items of a list, whose level is skipped. */
function othersOf ({ node, path }: SchemaPlace, root: Schema): SchemaPlace[] {
  const { $ref: reference, items } = node
  const target = typeof reference === 'string' && reference.startsWith('#') ? referent(reference, root) : undefined
  const branches = ['allOf', 'anyOf', 'oneOf'].flatMap((word) => {
    const list = node[word]
    return Array.isArray(list)
      ? list.filter(isRecord).map((branch, index) => ({ node: branch, path: pointer(pointer(path, word), index) }))
      : []
  })
  return [
    ...branches,
    ...target !== undefined && typeof reference === 'string' ? [{ node: target.schema, path: reference.slice(1) }] : [],
    ...isRecord(items) ? [{ node: items, path: pointer(path, 'items') }] : []
  ]
}
