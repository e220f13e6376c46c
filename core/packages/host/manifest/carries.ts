import { isRecord, type Json, type JsonObject, pointer, type Problem } from '@dispatch/common'
import { AnyJson } from '@dispatch/contract'
import { type Static, type TSchema, Type } from 'typebox'
import { isMeant, schemaFaults } from './limits.ts'

/**
 * Fields of the data that a vendor's own document has: JSON pointers into the request, in which `*` stands for every item of a list; a
 * pointer stands for all below it. `made`: the document has them of itself, such as its sums or the sender. Otherwise a change of such a
 * field changes what the vendor gets, or is refused. `when`: only if the values at these pointers fit; with `false`, only if none stands
 * there.
 */
export type Carried = { at: readonly string[], when?: Readonly<Record<string, TSchema | false>>, made?: true }

const pattern = '^/data(/[^/]+)*$'

/** What a provider carries, in the form of a manifest. */
export const ManifestCarries = Type.Array(Type.Object({
  at: Type.Array(Type.String({ pattern, description: 'a JSON pointer into the data, such as "/data/customer/name"' }), { minItems: 1 }),
  when: Type.Optional(Type.Record(Type.String({ pattern: '^(/[^/]+)+$' }), AnyJson)),
  made: Type.Optional(Type.Unsafe<true>({ const: true }))
}, { additionalProperties: false }))
export type ManifestCarries = Static<typeof ManifestCarries>

/** Problems of what is carried beyond its shape: invalid schemas. Paths begin with `base`. */
export function carriesFaults (carries: ManifestCarries, base: string): Problem[] {
  return carries.flatMap(({ when = {} }, index) => schemaFaults(when, `${base}/${index}/when`))
}

/** The pointers of what a request's document carries, each with whether the vendor makes it by itself. */
export function carriedIn (carries: ManifestCarries, requested: JsonObject): { at: string, made: boolean }[] {
  return carries.filter((group) => isMeant(group, requested)).flatMap(({ at, made = false }) => at.map((place) => ({ at: place, made })))
}

/** The fields below a place of the data, by name; the level of lists is skipped. A leaf stands for all below it. */
type Tree = Map<string, Tree>

function treeOf (places: readonly string[]): Tree {
  const root: Tree = new Map()
  const paths = places.map((place) => place.split('/').slice(2).filter((token) => token !== '*'))
  // A place comes before those below it, which it stands for.
  for (const path of paths.sort((one, other) => one.length - other.length)) grow(root, path)
  return root
}

function grow (tree: Tree, [name, ...rest]: readonly string[]): void {
  if (name === undefined) return
  const below = tree.get(name)
  if (below?.size === 0) return
  const node = below ?? new Map<string, Tree>()
  tree.set(name, node)
  grow(node, rest)
}

/**
 * JSON pointers into the data of what is given and not carried; only the outermost of each, and of a list the first item that has it.
 * `unshown`: what our own document does not show either, which nobody misses.
 */
export function uncarriedFields (carries: ManifestCarries, requested: JsonObject, unshown: readonly string[]): string[] {
  const found = new Map<string, string>()
  const hidden = new Set(unshown)
  visit(requested['data'] ?? {}, treeOf(carriedIn(carries, requested).map(({ at }) => at)), '', '')
  return [...found.values()].filter((path) => !isBelow(path, hidden))

  function visit (value: Json, tree: Tree, path: string, shape: string): void {
    if (Array.isArray(value)) {
      for (const [index, item] of (value as readonly Json[]).entries()) visit(item, tree, pointer(path, index), `${shape}/*`)
    } else if (isRecord(value)) {
      for (const [name, field] of Object.entries(value as JsonObject)) {
        const [at, of, below] = [pointer(path, name), pointer(shape, name), tree.get(name)]
        if (below === undefined) {
          if (isGiven(field) && !found.has(of)) found.set(of, at)
        } else if (below.size > 0) visit(field, below, at, of)
      }
    }
  }
}

/** Whether a value says something. */
export function isGiven (value: Json): boolean {
  return value !== null && value !== '' && value !== false && !(typeof value === 'object' && Object.values(value).length === 0)
}

function isBelow (path: string, places: ReadonlySet<string>): boolean {
  const names = path.split('/')
  return names.some((_, index) => places.has(names.slice(0, index + 1).join('/')))
}
