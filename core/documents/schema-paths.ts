import { didYouMean } from '../contract/problems.ts'
import { vocabularies } from '../contract/vocabulary.ts'
import type { Fault } from './errors.ts'
import { isRecord } from './records.ts'
import type { Read } from './uses.ts'

type Schema = Readonly<Record<string, unknown>>

/** A schema, and the document in which its local references are looked up. */
type Node = { schema: Schema, root: Schema }

/** The paths of a template that the schema of its data does not know, or that go through what is not a list. */
export function schemaFaults (schema: Schema, reads: readonly Read[]): Fault[] {
  return distinct(reads).flatMap(({ path, as, at }) => {
    const found = follow({ schema, root: schema }, path)
    if ('unknown' in found) return [{ path: at, message: `The schema of the data has no "${path.join('.')}"${didYouMean(found.unknown, found.known)}.` }]
    const types = found.nodes.map((node) => node.schema['type'])
    if (as === 'list' && types.length > 0 && types.every((type) => typeof type === 'string' && type !== 'array')) {
      return [{ path: at, message: `"${path.join('.')}" is no list in the schema of the data.` }]
    }
    return []
  })
}

/** Whether a schema knows the field at a path of names. */
export function isKnownField (schema: Schema, path: readonly string[]): boolean {
  return !('unknown' in follow({ schema, root: schema }, path))
}

function follow (start: Node, path: readonly string[]): { nodes: Node[] } | { unknown: string, known: string[] } {
  let nodes = variants(start)
  for (const name of path) {
    const fields = nodes.flatMap(itemsOf).map((node) => ({ known: fieldsOf(node.schema), root: node.root }))
    const next = fields.flatMap(({ known, root }) => known !== undefined && Object.hasOwn(known, name) ? nodesOf([known[name]], root) : [])
    if (next.length === 0 && fields.every(({ known }) => known !== undefined)) return { unknown: name, known: fields.flatMap(({ known = {} }) => Object.keys(known)) }
    nodes = next.flatMap((node) => variants(node))
  }
  return { nodes }
}

function nodesOf (schemas: readonly unknown[], root: Schema): Node[] {
  return schemas.filter(isRecord).map((schema) => ({ schema, root }))
}

/** What a schema may stand for: itself, or the target of its $ref and the branches of its combinations. */
function variants (node: Node, seen: readonly Schema[] = []): Node[] {
  const { schema, root } = node
  if (seen.includes(schema)) return []
  const combined = ['anyOf', 'oneOf', 'allOf'].flatMap((word) => Array.isArray(schema[word]) ? nodesOf(schema[word], root) : [])
  const others = [...combined, ...(typeof schema['$ref'] === 'string' ? resolve(schema['$ref'], root) : [])].flatMap((other) => variants(other, [...seen, schema]))
  return others.length === 0 || isRecord(schema['properties']) ? [node, ...others] : others
}

/** A reference to a vocabulary, to a definition of one, or to a definition of the same document: `#/$defs/name`. */
function resolve (reference: string, here: Schema): Node[] {
  const [name = '', fragment] = reference.split('#')
  const root = name === '' ? here : vocabularies.find(({ $id }) => $id === name)
  if (root === undefined) return []
  if (fragment === undefined || fragment === '') return [{ schema: root, root }]
  const [, word = '', key = ''] = fragment.split('/')
  const part = root[word]
  return isRecord(part) ? nodesOf([part[key]], root) : []
}

/** Paths look through lists: the items of a list stand for it. */
function itemsOf (node: Node): Node[] {
  const { schema, root } = node
  return isRecord(schema['items']) ? variants({ schema: schema['items'], root }).flatMap(itemsOf) : [node]
}

const scalars: readonly unknown[] = ['string', 'number', 'integer', 'boolean', 'null']

/** The fields that a schema knows: none of a scalar, undefined where it leaves them open. */
function fieldsOf (node: Schema): Schema | undefined {
  if (isRecord(node['properties'])) return node['properties']
  return scalars.includes(node['type']) ? {} : undefined
}

/** Prose in several languages reads its paths once in each. */
function distinct (reads: readonly Read[]): Read[] {
  return [...new Map(reads.map((read) => [`${read.at} ${read.as} ${read.path.join('.')}`, read])).values()]
}
