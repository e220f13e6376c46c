import { didYouMean, isRecord } from '@dispatch/common'
import type { Read } from '../compile/field-usage.ts'
import type { Fault } from '../model/errors.ts'
import { type Referent, referent, type Schema } from '../model/subschemas.ts'

/** The paths of a template that are not in the schema of its data, or that treat a single value as a list. */
export function unknownPathFaults (schema: Schema, reads: readonly Read[]): Fault[] {
  return distinct(reads).flatMap(({ path, as, at }) => {
    const found = follow(schema, path)
    if ('unknown' in found) {
      return [{
        path: at,
        code: 'unknown_path',
        message: `The schema of the data has no "${path.join('.')}"${didYouMean(found.unknown, found.known)}.`
      }]
    }
    const types = found.nodes.map((node) => node.schema['type'])
    if (as === 'list' && types.length > 0 && types.every((type) => typeof type === 'string' && type !== 'array')) {
      return [{ path: at, code: 'not_a_list', message: `"${path.join('.')}" is not a list in the schema of the data.` }]
    }
    return []
  })
}

/** Whether a schema has the field at a path of names. */
export function isKnownField (schema: Schema, path: readonly string[]): boolean {
  return !('unknown' in follow(schema, path))
}

/** The fields that an object at a path of names must have, in any of the forms that it may take. */
export function requiredFields (schema: Schema, path: readonly string[]): string[] {
  const found = follow(schema, path.slice(0, -1))
  const name = path.at(-1) ?? ''
  const fields = 'unknown' in found ? [] : items(found.nodes).map((node) => ({ known: fieldsOf(node.schema) ?? {}, root: node.root }))
  return requiredOf(fields.flatMap(({ known, root }) => Object.hasOwn(known, name) ? nodesOf([known[name]], root) : []))
}

function follow (schema: Schema, path: readonly string[]): { nodes: Referent[] } | { unknown: string, known: string[] } {
  let nodes = variants([{ schema, root: schema }])
  for (const name of path) {
    const fields = items(nodes).map((node) => ({ known: fieldsOf(node.schema), root: node.root }))
    const next = fields.flatMap(({ known, root }) => known !== undefined && Object.hasOwn(known, name) ? nodesOf([known[name]], root) : [])
    const isKnown = fields.length === 0 || fields.some(({ known }) => known === undefined || Object.hasOwn(known, name))
    if (!isKnown) return { unknown: name, known: fields.flatMap(({ known = {} }) => Object.keys(known)) }
    nodes = variants(next)
  }
  return { nodes }
}

export function nodesOf (schemas: readonly unknown[], root: Schema): Referent[] {
  return schemas.filter(isRecord).map((schema) => ({ schema, root }))
}

/** The names of the fields that objects of some schemas must have, whichever of their forms applies. */
export function requiredOf (nodes: readonly Referent[]): string[] {
  return reached(nodes, others).flatMap(({ schema: { required } }) =>
    Array.isArray(required) ? required.filter((field) => typeof field === 'string') : []
  )
}

/** All schemas that may apply: the schemas themselves, the targets of their $ref, and the branches of their combinations. */
export function variants (nodes: readonly Referent[]): Referent[] {
  return reached(nodes, others).filter((node) => isRecord(node.schema['properties']) || others(node).length === 0)
}

function others ({ schema, root }: Referent): Referent[] {
  const combined = ['anyOf', 'oneOf', 'allOf'].flatMap((word) => Array.isArray(schema[word]) ? nodesOf(schema[word], root) : [])
  const target = typeof schema['$ref'] === 'string' ? referent(schema['$ref'], root) : undefined
  return target === undefined ? combined : [...combined, target]
}

/** A path skips the level of a list: the items of a list stand for it. */
export function items (nodes: readonly Referent[]): Referent[] {
  return reached(nodes, (node) => variants(itemsOf(node))).filter((node) => itemsOf(node).length === 0)
}

function itemsOf ({ schema, root }: Referent): Referent[] {
  return nodesOf([schema['items']], root)
}

/** All schemas that are reachable from some schemas, each once. References may be circular. */
function reached (start: readonly Referent[], next: (node: Referent) => Referent[]): Referent[] {
  const found = new Map(start.map((node) => [node.schema, node]))
  for (const node of found.values()) for (const other of next(node)) if (!found.has(other.schema)) found.set(other.schema, other)
  return [...found.values()]
}

const scalars: readonly unknown[] = ['string', 'number', 'integer', 'boolean', 'null']

/** The fields of a schema: none for a scalar, undefined where any field is permitted. */
export function fieldsOf (node: Schema): Schema | undefined {
  if (isRecord(node['properties'])) return node['properties']
  return scalars.includes(node['type']) ? {} : undefined
}

/** Prose in several languages reads the same paths once in each of them. */
function distinct (reads: readonly Read[]): Read[] {
  return [...new Map(reads.map((read) => [`${read.at} ${read.as} ${read.path.join('.')}`, read])).values()]
}
