import { isRecord, type Json, type JsonObject } from '@dispatch/common'
import type { cellTypes } from '../contract/batches.ts'

type CellType = typeof cellTypes[number]

/** A place in the body of a dispatch where a cell may stand. */
export type Place = { pointer: string, type: CellType }

/** How deep places are looked for, and how many are offered at most. */
const [deepest, max] = [6, 200]

/** The places in a body: those of its values, by an example of it. */
export function placesIn (body: JsonObject): Place[] {
  return [{ pointer: '/id', type: 'text' as const }, ...below(body, '', 0)].slice(0, max)
}

function below (value: Json | undefined, pointer: string, depth: number): Place[] {
  if (Array.isArray(value) || isRecord(value)) {
    if (depth === deepest) return [{ pointer, type: 'json' }]
    return Object.entries(value as JsonObject).flatMap(([name, one]) =>
      below(one, `${pointer}/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`, depth + 1)
    )
  }
  return [{ pointer, type: typeof value === 'number' ? 'number' : typeof value === 'boolean' ? 'boolean' : 'text' }]
}

const plain = (name: string): string => name.toLowerCase().replaceAll(/[^a-z\d]/g, '')

/** Where the cells of a column probably stand: at a place that ends with its name. Nowhere, where there is none. */
export function placeOf (column: string, places: readonly Place[]): Place {
  if (column.startsWith('/')) return places.find(({ pointer }) => pointer === column) ?? { pointer: column, type: 'text' }
  return places.find(({ pointer }) => plain(pointer.slice(pointer.lastIndexOf('/'))) === plain(column)) ?? { pointer: '', type: 'text' }
}
