import { isRecord } from '@dispatch/common'
import type { Referent, Schema } from '../model/subschemas.ts'
import { fieldsOf, items, nodesOf, requiredOf, variants } from '../source/schema-paths.ts'

/**
 * A field of a template's data, as an author chooses it: `path` is what an expression says. `sample`: what the sample has there. `list`: it
 * is one, and `as` may be each of its items.
 */
export type DataField = { path: string, type: 'text' | 'number' | 'date' | 'flag' | 'list', required: boolean, sample?: string }

/** A loop around a block: each item of the list `each` has the name `as`. */
export type Loop = { each: string, as: string }

/** How deep fields are looked for, and how many are offered: those that the sample has come first. */
const most = { depth: 4, fields: 120 } as const

/** The fields of the data that a block may show, in the order of the schema; those of the loops around it before the others. */
export function dataFields (schema: Schema, sample: unknown, loops: readonly Loop[] = []): DataField[] {
  const root: Place = { nodes: [{ schema, root: schema }], value: sample }
  const scope = new Map<string, Place>()
  for (const { each, as } of loops) {
    const list = placeAt(root, scope, each)
    if (list !== undefined) {
      scope.set(as, { nodes: items(variants(list.nodes)), value: Array.isArray(list.value) ? (list.value as unknown[])[0] : undefined })
    }
  }
  const found = [
    ...[...scope].reverse().flatMap(([name, place]) => below(place, name, true, 1)),
    ...below(root, '', true, 0)
  ]
  if (found.length <= most.fields) return found
  const shown = new Set([...found.filter(isSampled), ...found.filter((field) => !isSampled(field))].slice(0, most.fields))
  return found.filter((field) => shown.has(field))
}

type Place = { nodes: Referent[], value: unknown }

const isSampled = ({ sample, required }: DataField): boolean => sample !== undefined || required

/** The place that a plain path names; undefined for an expression with more in it, and for what the schema does not have. */
function placeAt (root: Place, scope: ReadonlyMap<string, Place>, path: string): Place | undefined {
  const [first = '', ...names] = path.trim().split('.')
  const start = scope.get(first)
  return (start === undefined ? [first, ...names] : names).reduce<Place | undefined>(
    (place, name) => place && childrenOf(place).find((child) => child.name === name)?.place,
    start ?? root
  )
}

type Child = { name: string, place: Place, required: boolean }

function childrenOf ({ nodes, value }: Place): Child[] {
  const children = new Map<string, Child>()
  const required = requiredOf(nodes)
  for (const { schema, root } of variants(nodes)) {
    for (const [name, inner] of Object.entries(fieldsOf(schema) ?? {})) {
      const nodesOfChild = [...children.get(name)?.place.nodes ?? [], ...nodesOf([inner], root)]
      const valueOfChild = isRecord(value) && Object.hasOwn(value, name) ? value[name] : undefined
      children.set(name, { name, place: { nodes: nodesOfChild, value: valueOfChild }, required: required.includes(name) })
    }
  }
  return [...children.values()]
}

function below (place: Place, path: string, required: boolean, depth: number): DataField[] {
  const children = childrenOf(place)
  const type = typeOf(variants(place.nodes))
  const own = path === '' || children.length > 0 && type !== 'list' ? [] : [{ path, type, required, ...sampleOf(place.value) }]
  if (type === 'list' || depth >= most.depth) return own
  return [
    ...own,
    ...children.flatMap((child) =>
      below(child.place, path === '' ? child.name : `${path}.${child.name}`, required && child.required, depth + 1)
    )
  ]
}

function typeOf (nodes: readonly Referent[]): DataField['type'] {
  const has = (test: (schema: Schema) => boolean): boolean => nodes.some(({ schema }) => test(schema))
  if (has(({ type, items: of }) => type === 'array' || of !== undefined)) return 'list'
  if (has(({ format, type }) => format === 'date' && type !== 'number')) return 'date'
  if (has(({ type }) => type === 'boolean')) return 'flag'
  if (has(({ type }) => type === 'number' || type === 'integer')) return 'number'
  return 'text'
}

function sampleOf (value: unknown): { sample?: string } {
  if (typeof value === 'string') return { sample: value.slice(0, 40) }
  return typeof value === 'number' || typeof value === 'boolean' ? { sample: String(value) } : {}
}
