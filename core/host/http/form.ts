import type { NoDocument } from '@dispatch/common'

/** A value of a form or a query: `undefined` is left out, objects become bracketed keys. A document cannot stand there. */
export type FormValue = string | number | boolean | undefined | readonly FormValue[] | ({ readonly [key: string]: FormValue } & NoDocument)
export type FormFields = Readonly<Record<string, FormValue>>

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
