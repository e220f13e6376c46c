import { didYouMean } from '../contract/problems.ts'
import type { Fault } from './errors.ts'
import { isRecord } from './records.ts'
import { definitionAt, type Schema } from './subschemas.ts'
import type { Read } from './uses.ts'

/** The paths of a template that the schema of its data does not know, or that go through what is not a list. */
export function schemaFaults (schema: Schema, reads: readonly Read[]): Fault[] {
  return reads.flatMap(({ path, as, at }) => {
    const found = follow(schema, path)
    if ('unknown' in found) return [{ path: at, code: 'unknown_path', message: `The schema of the data has no "${path.join('.')}"${didYouMean(found.unknown, found.known)}.` }]
    const types = found.schemas.map((node) => node['type'])
    if (as === 'list' && types.length > 0 && types.every((type) => typeof type === 'string' && type !== 'array')) {
      return [{ path: at, code: 'not_a_list', message: `"${path.join('.')}" is no list in the schema of the data.` }]
    }
    return []
  })
}

function follow (root: Schema, path: readonly string[]): { schemas: Schema[] } | { unknown: string, known: string[] } {
  let nodes = variants(root, [root])
  for (const name of path) {
    const fields = items(root, nodes).map(fieldsOf)
    const next = fields.flatMap((known) => known !== undefined && Object.hasOwn(known, name) ? [known[name]] : []).filter(isRecord)
    if (next.length === 0 && fields.every((known) => known !== undefined)) return { unknown: name, known: fields.flatMap((known) => Object.keys(known)) }
    nodes = variants(root, next)
  }
  return { schemas: nodes }
}

/** What schemas may stand for: themselves, or the targets of their $ref and the branches of their combinations. Each is visited once: they may lead in circles. */
function variants (root: Schema, nodes: readonly Schema[]): Schema[] {
  const seen = new Set(nodes)
  for (const node of seen) for (const other of others(root, node)) seen.add(other)
  return [...seen].filter((node) => isRecord(node['properties']) || others(root, node).length === 0)
}

function others (root: Schema, node: Schema): Schema[] {
  const combined = ['anyOf', 'oneOf', 'allOf'].flatMap((word) => Array.isArray(node[word]) ? node[word].filter(isRecord) : [])
  const target = typeof node['$ref'] === 'string' ? definitionAt(root, node['$ref']) : undefined
  return isRecord(target) ? [...combined, target] : combined
}

/** Paths look through lists: the items of a list stand for it. */
function items (root: Schema, nodes: readonly Schema[]): Schema[] {
  const seen = new Set(nodes)
  for (const node of seen) if (isRecord(node['items'])) for (const item of variants(root, [node['items']])) seen.add(item)
  return [...seen].filter((node) => !isRecord(node['items']))
}

const scalars: readonly unknown[] = ['string', 'number', 'integer', 'boolean', 'null']

/** The fields that a schema knows: none of a scalar, undefined where it leaves them open. */
function fieldsOf (node: Schema): Schema | undefined {
  if (isRecord(node['properties'])) return node['properties']
  return scalars.includes(node['type']) ? {} : undefined
}
