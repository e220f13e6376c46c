import { type DocumentHandle, isRecord, type NoDocument } from '@dispatch/common'
import { randomUUID } from 'node:crypto'
import type { OwnDocuments } from '../documents/own-documents.ts'
import type { Piece } from '../documents/pieces.ts'

/** A value of a form or a query: `undefined` is left out, objects become bracketed keys. A document cannot stand there. */
export type FormValue = string | number | boolean | undefined | readonly FormValue[] | ({ readonly [key: string]: FormValue } & NoDocument)
export type FormFields = Readonly<Record<string, FormValue>>

/** A value of a form that is a body: a document is the base64 of its bytes, `{ json }` a text of JSON in which documents may stand. */
export type FormContent =
  | FormValue
  | DocumentHandle
  | { readonly json: unknown }
  | readonly FormContent[]
  | { readonly [key: string]: FormContent }
export type FormContents = Readonly<Record<string, FormContent>>

/**
 * How a list is written: `a=1&a=2`, `a[]=1&a[]=2` or `a[0]=1&a[1]=2`. Lists of objects or of lists always have an index, because no other
 * form tells which field belongs to which item.
 */
export type ArrayFormat = 'repeated' | 'brackets' | 'indexed'

const itemKeys: Record<ArrayFormat, (key: string, index: number) => string> = {
  repeated: (key) => key,
  brackets: (key) => `${key}[]`,
  indexed: (key, index) => `${key}[${index}]`
}

/** Key-value pairs in the order of the fields, for a form or a query. */
export function formPairs (fields: FormFields, arrays: ArrayFormat = 'repeated'): [key: string, value: string][] {
  return Object.entries(fields).flatMap(([key, value]) => pairsOf(key, value, arrays))
}

function pairsOf (key: string, value: FormValue, arrays: ArrayFormat): [string, string][] {
  if (value === undefined) return []
  if (typeof value !== 'object') return [[key, String(value)]]
  if (isList(value)) {
    const keyOf = itemKeys[value.some((item) => typeof item === 'object') ? 'indexed' : arrays]
    return value.flatMap((item, index) => pairsOf(keyOf(key, index), item, arrays))
  }
  return Object.entries(value).flatMap(([name, field]) => pairsOf(`${key}[${name}]`, field, arrays))
}

function isList (value: FormValue): value is readonly FormValue[] {
  return Array.isArray(value)
}

/** The pieces of a form: its text, and the documents of the call between, in base64 as a form has it. */
export function formPieces (form: FormContents, arrays: ArrayFormat | undefined, own: OwnDocuments): Piece[] {
  const found: DocumentHandle[] = []
  // A text that nobody knows beforehand, and that a form leaves as it is.
  const mark = randomUUID()
  const marked = (_key: string, value: unknown): unknown => {
    if (!own.has(value)) return value
    found.push(value)
    return mark
  }
  const text = String(new URLSearchParams(formPairs(asTexts(form, marked) as FormFields, arrays)))
  const [head = '', ...tails] = text.split(mark)
  return [Buffer.from(head), ...found.flatMap((form, index) => [{ form }, Buffer.from(tails[index] ?? '')])]
}

/** The pairs of a form whose values are texts. */
export function formTexts (form: FormContents, arrays?: ArrayFormat): [key: string, value: string][] {
  return formPairs(asTexts(form, (_key, value) => value) as FormFields, arrays)
}

/** The values of a form, `{ json }` as its text; `marked` stands in for what is no text. */
function asTexts (value: unknown, marked: (key: string, value: unknown) => unknown): unknown {
  const own = marked('', value)
  if (Array.isArray(own)) return own.map((item: unknown) => asTexts(item, marked))
  if (!isRecord(own)) return own
  const names = Object.keys(own)
  if (names.length === 1 && names[0] === 'json') return JSON.stringify(own['json'], marked)
  return Object.fromEntries(Object.entries(own).map(([name, field]) => [name, asTexts(field, marked)]))
}
