import { didYouMean } from '../contract/problems.ts'
import type { Fault } from './errors.ts'
import { isRecord } from './records.ts'
import type { Read } from './uses.ts'

type Schema = Readonly<Record<string, unknown>>

/** The paths of a template that the schema of its data does not know, or that go through what is not a list. */
export function schemaFaults (schema: Schema, reads: readonly Read[]): Fault[] {
  return distinct(reads).flatMap(({ path, as, at }) => {
    const found = follow(schema, path)
    if ('unknown' in found) return [{ path: at, message: `The schema of the data has no "${path.join('.')}"${didYouMean(found.unknown, found.known)}.` }]
    const types = found.schemas.map((node) => node['type'])
    if (as === 'list' && types.length > 0 && types.every((type) => typeof type === 'string' && type !== 'array')) {
      return [{ path: at, message: `"${path.join('.')}" is no list in the schema of the data.` }]
    }
    return []
  })

  function follow (start: Schema, path: readonly string[]): { schemas: Schema[] } | { unknown: string, known: string[] } {
    let nodes = variants(start)
    for (const name of path) {
      const fields = nodes.flatMap(itemsOf).map(fieldsOf)
      const next = fields.flatMap((known) => known !== undefined && Object.hasOwn(known, name) ? [known[name]] : []).filter(isRecord)
      if (next.length === 0 && fields.every((known) => known !== undefined)) return { unknown: name, known: fields.flatMap((known) => Object.keys(known)) }
      nodes = next.flatMap(variants)
    }
    return { schemas: nodes }
  }

  /** What a schema may stand for: itself, or the target of its $ref and the branches of its combinations. */
  function variants (node: Schema): Schema[] {
    const combined = ['anyOf', 'oneOf', 'allOf'].flatMap((word) => Array.isArray(node[word]) ? node[word].filter(isRecord) : [])
    const others = [...combined, ...(typeof node['$ref'] === 'string' ? resolve(node['$ref']) : [])].flatMap(variants)
    return others.length === 0 || isRecord(node['properties']) ? [node, ...others] : others
  }

  /** Local references only: `#/$defs/name`. */
  function resolve (reference: string): Schema[] {
    const definitions = isRecord(schema['$defs']) ? schema['$defs'] : {}
    const target = definitions[reference.replace(/^#\/\$defs\//, '')]
    return isRecord(target) ? [target] : []
  }

  /** Paths look through lists: the items of a list stand for it. */
  function itemsOf (node: Schema): Schema[] {
    return isRecord(node['items']) ? variants(node['items']).flatMap(itemsOf) : [node]
  }
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
