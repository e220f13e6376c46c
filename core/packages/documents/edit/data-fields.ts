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

/**
 * How deep fields are looked for, how many schemas and names are looked at, and how many fields are offered: those that the sample has come
 * first. A schema that contains itself has more fields with each level than can be counted.
 */
const limits = { depth: 4, looks: 4_000, fields: 120 } as const

/** The number of nodes that may still be looked at. */
type Budget = { left: number }

/** The fields of the data that a block may show, in the order of the schema; those of the loops around it before the others. */
export function dataFields (schema: Schema, sample: unknown, loops: readonly Loop[] = []): DataField[] {
  const budget: Budget = { left: limits.looks }
  const root: Place = { nodes: [{ schema, root: schema }], value: sample }
  const scope = new Map<string, Place>()
  for (const { each, as } of loops) {
    const list = placeAt(root, scope, each, budget)
    if (list !== undefined) {
      scope.set(as, { nodes: items(variants(list.nodes)), value: Array.isArray(list.value) ? (list.value as unknown[])[0] : undefined })
    }
  }
  const found = below([
    ...[...scope].reverse().map(([path, place]) => spotOf(path, place, true, 1)),
    spotOf('', root, true, 0)
  ], budget)
  if (found.length <= limits.fields) return found
  const shown = new Set(firstOf(found, ({ sample, required }) => sample !== undefined || required).slice(0, limits.fields))
  return found.filter((field) => shown.has(field))
}

type Place = { nodes: Referent[], value: unknown }

/** Those that pass a test before the others. */
function firstOf<T> (all: readonly T[], test: (one: T) => boolean): T[] {
  return [...all.filter(test), ...all.filter((one) => !test(one))]
}

/** The place that a plain path names; undefined for an expression with more in it, and for what the schema does not have. */
function placeAt (root: Place, scope: ReadonlyMap<string, Place>, path: string, budget: Budget): Place | undefined {
  const [first = '', ...names] = path.trim().split('.')
  const start = scope.get(first)
  return (start === undefined ? [first, ...names] : names).reduce<Place | undefined>(
    (place, name) => place && childrenOf(place, formsOf(place, budget) ?? [], budget).find((child) => child.name === name)?.place,
    start ?? root
  )
}

/** The schemas that a place may have; undefined where too many were looked at. */
function formsOf ({ nodes }: Place, budget: Budget): Referent[] | undefined {
  if (budget.left <= 0) return undefined
  const forms = variants(nodes)
  budget.left -= 1 + forms.length
  return forms
}

type Child = { name: string, place: Place, required: boolean }

/** The fields of a place; none where too many were looked at. */
function childrenOf ({ nodes, value }: Place, forms: readonly Referent[], budget: Budget): Child[] {
  if (budget.left <= 0) return []
  const children = new Map<string, Child>()
  const required = new Set(requiredOf(nodes))
  for (const { schema, root } of forms) {
    for (const [name, inner] of Object.entries(fieldsOf(schema) ?? {})) {
      const child = children.get(name) ?? {
        name,
        place: { nodes: [], value: isRecord(value) && Object.hasOwn(value, name) ? value[name] : undefined },
        required: required.has(name)
      }
      child.place.nodes.push(...nodesOf([inner], root))
      children.set(name, child)
      budget.left--
    }
  }
  return [...children.values()]
}

/** A place in the tree of the fields, with its own field and those in it. */
type Spot = { path: string, place: Place, required: boolean, depth: number, own: DataField[], inner: Spot[] }

function spotOf (path: string, place: Place, required: boolean, depth: number): Spot {
  return { path, place, required, depth, own: [], inner: [] }
}

/** What the sample has, then the others, level by level: a field that contains itself takes nothing from those beside it. */
function below (spots: Spot[], budget: Budget): DataField[] {
  for (let waiting = spots; waiting.length > 0;) {
    const sampled = waiting.filter(({ place }) => place.value !== undefined)
    const level = sampled.length > 0 ? sampled : firstOf(waiting, ({ required }) => required)
    const looked = level.map((spot) => ({ spot, forms: formsOf(spot.place, budget) }))
    waiting = [
      ...sampled.length > 0 ? waiting.filter(({ place }) => place.value === undefined) : [],
      ...looked.flatMap(({ spot, forms }) => forms === undefined ? [] : open(spot, forms, budget))
    ]
  }
  return spots.flatMap(fieldsIn)
}

/** Writes down the field of a spot, and gives the spots in it. */
function open (spot: Spot, forms: readonly Referent[], budget: Budget): Spot[] {
  const { path, place, required, depth } = spot
  const type = typeOf(forms)
  const isLeaf = type === 'list' || !forms.some(({ schema }) => Object.keys(fieldsOf(schema) ?? {}).length > 0)
  if (isLeaf && path !== '') spot.own = [{ path, type, required, ...sampleOf(place.value) }]
  if (isLeaf || depth >= limits.depth) return []
  spot.inner = childrenOf(place, forms, budget).map((child) =>
    spotOf(path === '' ? child.name : `${path}.${child.name}`, child.place, required && child.required, depth + 1)
  )
  return spot.inner
}

function fieldsIn ({ own, inner }: Spot): DataField[] {
  return [...own, ...inner.flatMap(fieldsIn)]
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
