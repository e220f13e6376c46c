import invoice from './invoice.schema.json' with { type: 'json' }

/** A JSON Schema (2020-12) that other schemas refer to by its `$id`. */
export type Vocabulary = { readonly $id: string, readonly [word: string]: unknown }

/**
 * The schemas that the data schema of a template may refer to with `$ref`: `dispatch:invoice`, and its parts, such as
 * `dispatch:invoice#/$defs/line`.
 */
export const vocabularies: readonly Vocabulary[] = [invoice]
