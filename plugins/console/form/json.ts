import type { JsonObject } from '@dispatch/common'

/** The JSON object in a text; undefined where there is none. */
export function objectIn (text: string): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? value as JsonObject : undefined
  } catch (error) {
    if (error instanceof SyntaxError) return undefined
    throw error
  }
}
