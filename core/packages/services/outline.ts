import type { Json } from '@dispatch/common'

/**
 * The outline of a new provider of a service. `capabilities` are lines of its definition; `path` is a placeholder for the vendor's path;
 * `request` is the dispatch of the fixture; `filled` is the code that makes `sends`, the `body`, from it. `setting` is a required setting
 * of the service: its name, its constructor and a value.
 */
export type Outline = {
  capabilities: readonly string[]
  setting?: { name: string, by: string, value: readonly string[] }
  path: string
  body: 'json' | 'multipart'
  request: object
  filled: string
  sends: object
  /** The vendor's words for the status, and an event. */
  events?: Readonly<Record<string, string>>
  /** Words that the operations of vendors have which do the service, the most telling first. */
  verbs: string
  /** What fields of a vendor's description mean by their names. */
  means: readonly Meaning[]
}

/**
 * What a field of a vendor means. `names`: its usual names, without spaces and signs. `code` makes its value from the request, and `value`
 * is what it makes of the `request` of the outline. `fields` are those of an object, or of each item of a
 * list, whose name in the code is `each`.
 */
export type Meaning = {
  names: string
  code: string
  value: Json | undefined
  fields?: readonly Meaning[]
  each?: string
}

/** Stands for the bytes of a document in a {@link Meaning}. */
export const documentValue = '/document'
