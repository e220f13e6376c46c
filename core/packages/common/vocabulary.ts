import invoice from './invoice.schema.json' with { type: 'json' }

/** A JSON Schema (2020-12) that others refer to by its `$id`. */
export type Vocabulary = { readonly $id: string, readonly [word: string]: unknown }

/** What the data of templates can refer to with `$ref`: `dispatch:invoice`, and its parts, such as `dispatch:invoice#/$defs/line`. */
export const vocabularies: readonly Vocabulary[] = [invoice]
