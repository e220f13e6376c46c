import { didYouMean } from '../contract/problems.ts'
import type { Fault } from './errors.ts'
import { isRecord } from './records.ts'
import type { Read } from './site.ts'

type Schema = Readonly<Record<string, unknown>>

/** The paths of a template that the schema of its data does not know, or that go through what is not a list. */
export function schemaFaults (schema: Schema, reads: readonly Read[]): Fault[] {
  return reads.flatMap(({ path, as, at }) => {
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
      const objects = nodes.flatMap(itemsOf)
      const properties = objects.map((node) => node['properties']).filter(isRecord)
      const next = properties.filter((fields) => Object.hasOwn(fields, name)).map((fields) => fields[name]).filter(isRecord)
      if (next.length === 0 && properties.length > 0 && properties.length === objects.length) return { unknown: name, known: properties.flatMap((fields) => Object.keys(fields)) }
      nodes = next.flatMap(variants)
    }
    return { schemas: nodes }
  }

  /** What a schema may stand for: itself, the target of its $ref, the branches of its combinations. */
  function variants (node: Schema): Schema[] {
    const combined = ['anyOf', 'oneOf', 'allOf'].flatMap((word) => Array.isArray(node[word]) ? node[word].filter(isRecord) : [])
    const target = typeof node['$ref'] === 'string' ? resolve(node['$ref']) : undefined
    return [node, ...combined.flatMap(variants), ...(target === undefined ? [] : variants(target))]
  }

  /** Local references only: `#/$defs/name`. */
  function resolve (reference: string): Schema | undefined {
    const definitions = isRecord(schema['$defs']) ? schema['$defs'] : {}
    const target = definitions[reference.replace(/^#\/\$defs\//, '')]
    return isRecord(target) ? target : undefined
  }

  /** Paths look through lists: the items of a list stand for it. */
  function itemsOf (node: Schema): Schema[] {
    return isRecord(node['items']) ? variants(node['items']).flatMap(itemsOf) : [node]
  }
}
