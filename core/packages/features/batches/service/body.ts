import { isRecord, type Json, type JsonObject } from '@dispatch/common'

/** A value changed by another one (JSON Merge Patch, RFC 7396): members of objects one by one, null removes. */
function merged (value: Json | undefined, change: Json): Json {
  if (!isRecord(change)) return change
  const members = new Map<string, Json>(Object.entries(isRecord(value) ? value as JsonObject : {}))
  for (const [name, below] of Object.entries(change as JsonObject)) {
    if (below === null) members.delete(name)
    else members.set(name, merged(members.get(name), below))
  }
  return Object.fromEntries(members)
}

/** The body of the dispatch of a row. `common`: what all rows of the batch have in common. */
export function bodyOf (common: string | null, row: string): unknown {
  const own = JSON.parse(row) as JsonObject
  return common === null ? own : merged(JSON.parse(common) as JsonObject, own)
}
