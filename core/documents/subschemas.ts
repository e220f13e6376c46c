import { pointer } from '../contract/json.ts'
import { isRecord } from './records.ts'

export type Schema = Readonly<Record<string, unknown>>

/** A schema inside another, and where it stands (JSON pointer). */
export type SchemaPlace = { node: Schema, path: string }

/** The keywords that hold schemas: one, a list of them, or one for each name. */
const holders: Readonly<Record<string, 'one' | 'several'>> = {
  items: 'one', additionalProperties: 'one', not: 'one', if: 'one', then: 'one', else: 'one', contains: 'one', propertyNames: 'one', unevaluatedItems: 'one', unevaluatedProperties: 'one', contentSchema: 'one',
  allOf: 'several', anyOf: 'several', oneOf: 'several', prefixItems: 'several',
  properties: 'several', patternProperties: 'several', dependentSchemas: 'several', $defs: 'several', definitions: 'several'
}

/** A schema and every schema inside it, in their order; what is no schema is passed over. */
export function * subschemas (node: unknown, path: string): Generator<SchemaPlace> {
  if (!isRecord(node)) return
  yield { node, path }
  for (const [word, value] of Object.entries(node)) {
    const holds = Object.hasOwn(holders, word) ? holders[word] : undefined
    if (holds === 'one') yield * subschemas(value, pointer(path, word))
    if (holds === 'several' && typeof value === 'object' && value !== null) {
      for (const [name, inner] of Object.entries(value)) yield * subschemas(inner, pointer(pointer(path, word), name))
    }
  }
}

/** What a reference inside the schema (`#/$defs/line`) leads to, if there is something. */
export function definitionAt (root: Schema, reference: string): unknown {
  const tokens = reference.split('/').slice(1).map((token) => token.replaceAll('~1', '/').replaceAll('~0', '~'))
  return tokens.reduce<unknown>((node, token) => typeof node === 'object' && node !== null && Object.hasOwn(node, token) ? (node as Schema)[token] : undefined, root)
}
