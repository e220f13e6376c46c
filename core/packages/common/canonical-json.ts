import { isRecord } from './records.ts'

/** The JSON of a value with the fields of every object in the order of their names: equal values have the same text. */
export function canonicalJson (value: unknown): string {
  return JSON.stringify(ordered(value))
}

function ordered (value: unknown): unknown {
  if (Array.isArray(value)) return value.map(ordered)
  if (!isRecord(value)) return value
  return Object.fromEntries(Object.keys(value).sort().map((name) => [name, ordered(value[name])]))
}
