import type { Json, JsonObject } from './json.ts'

/** Whether a value is a plain JSON object: not a list, not null. */
export function isRecord (value: Json | undefined): value is JsonObject
export function isRecord (value: unknown): value is Record<string, unknown>
export function isRecord (value: unknown): boolean {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** A field of the object itself, never of a prototype. */
export function ownField (value: unknown, name: string): unknown {
  return isRecord(value) && Object.hasOwn(value, name) ? value[name] : undefined
}
