import { isRecord, pointer, vocabularies } from '@dispatch/common'

export type Schema = Readonly<Record<string, unknown>>

/** A schema inside another one, with its place (JSON pointer). */
export type SchemaPlace = { node: Schema, path: string }

/** The keywords that contain schemas: one, a list, or one for each name. */
const holders: Readonly<Record<string, 'one' | 'several'>> = {
  items: 'one',
  additionalProperties: 'one',
  not: 'one',
  if: 'one',
  then: 'one',
  else: 'one',
  contains: 'one',
  propertyNames: 'one',
  unevaluatedItems: 'one',
  unevaluatedProperties: 'one',
  contentSchema: 'one',
  allOf: 'several',
  anyOf: 'several',
  oneOf: 'several',
  prefixItems: 'several',
  properties: 'several',
  patternProperties: 'several',
  dependentSchemas: 'several',
  $defs: 'several',
  definitions: 'several'
}

/** A schema and every schema inside it, in their order. A value that is not a schema is skipped. */
export function* subschemas (node: unknown, path: string): Generator<SchemaPlace> {
  if (!isRecord(node)) return
  yield { node, path }
  for (const [word, value] of Object.entries(node)) {
    const holds = Object.hasOwn(holders, word) ? holders[word] : undefined
    if (holds === 'one') yield* subschemas(value, pointer(path, word))
    if (holds === 'several' && typeof value === 'object' && value !== null) {
      for (const [name, inner] of Object.entries(value)) yield* subschemas(inner, pointer(pointer(path, word), name))
    }
  }
}

/** A schema, and the document in which its local references are resolved. */
export type Referent = { schema: Schema, root: Schema }

/** The target of a reference, if it exists: a part of the same document (`#/$defs/line`), a vocabulary, or a part of one. */
export function referent (reference: string, here: Schema): Referent | undefined {
  const [name = '', fragment = ''] = reference.split('#')
  const root = name === '' ? here : vocabularies.find(({ $id }) => $id === name)
  if (root === undefined || !/^(\/|$)/.test(fragment)) return undefined
  const tokens = fragment.split('/').slice(1).map((token) => token.replaceAll('~1', '/').replaceAll('~0', '~'))
  const schema = tokens.reduce<unknown>(
    (node, token) => typeof node === 'object' && node !== null && Object.hasOwn(node, token) ? (node as Schema)[token] : undefined,
    root
  )
  return isRecord(schema) ? { schema, root } : undefined
}
