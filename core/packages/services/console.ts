import type { Json, JsonObject } from '@dispatch/common'

/** A field of a form, as JSON Schema. Its texts are the words of the console with its name. */
export type FormField = {
  type?: 'string' | 'boolean' | 'integer' | 'array' | 'object'
  enum?: readonly string[]
  examples?: readonly Json[]
  /** Above a few hundred characters it has several lines. */
  maxLength?: number
  items?: FormField
  properties?: Readonly<Record<string, FormField>>
  required?: readonly string[]
  /** A list of flat objects, line by line. */
  'x-rows'?: true
}

export type Form = { required?: readonly string[], properties: Readonly<Record<string, FormField>> }

/** A service in the console. */
export type ConsolePart = {
  /** What it needs besides a template: the fields of its object in a request. Without one it is not sent from there. */
  form?: Form
  /** What it needs where it follows in a chain, and sends a text of its own with the document of the first; without it, the same. */
  following?: Form
  /** A small request to begin with, beside its template. */
  sample?: JsonObject
  /**
   * What follows from the rest of the data of its templates: fields, of the items of lists too (`lines.total`), and the data with them.
   * Data in which all of them are right are answered as they are.
   */
  computed?: { fields: readonly string[], of: (data: JsonObject) => JsonObject }
  /**
   * What a document begins with that takes back another one, of the fields and the data of that one, and its dispatch if it has one: fields
   * and data that name the other one. Undefined for a document that none takes back.
   */
  takesBack?: (other: { dispatchId?: string | undefined, fields: JsonObject, data: JsonObject }) =>
    | { fields: JsonObject, data: JsonObject }
    | undefined
  /** The setting of a provider that says from whom it sends, and the field of the request for it. */
  sender?: { setting: string, field: string }
  words: Words
}

/** What the console calls it (`service_<name>`), its fields (`field_…`, `help_…`) and its statuses (`delivery_…`). */
export type Words = { readonly en: Readonly<Record<string, string>>, readonly fr: Readonly<Record<string, string>> }

export const text: FormField = { type: 'string' }
export const flag: FormField = { type: 'boolean' }
export const texts: FormField = { type: 'array', items: text }
/** Of several lines. */
export const longText: FormField = { ...text, maxLength: 100_000 }
export const like = (...examples: string[]): FormField => ({ ...text, examples })
/** Documents that are there already, line by line: files that were uploaded, or documents of other dispatches. */
export function documentLines (more: Readonly<Record<string, FormField>> = {}): FormField {
  return { type: 'array', 'x-rows': true, items: { type: 'object', properties: { fileId: text, documentId: text, ...more } } }
}
