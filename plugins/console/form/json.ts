import type { JsonObject } from '@dispatch/common'

/** The JSON object in a text; undefined where there is none. */
export function objectIn (text: string): JsonObject | undefined {
  const { value } = parsed(text)
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? value as JsonObject : undefined
}

/** What keeps a text from being JSON, in the words of the engine, with the place where it tells one. */
export function faultIn (text: string): { message: string, line?: number, column?: number } | undefined {
  const { fault: message } = parsed(text)
  if (message === undefined) return undefined
  const position = /at position (\d+)/.exec(message)?.[1] ?? (message.includes('end of JSON') ? text.length : undefined)
  if (position === undefined) return { message }
  const before = text.slice(0, Number(position)).split('\n')
  return { message, line: before.length, column: (before.at(-1) ?? '').length + 1 }
}

/** Data as a person reads them. What would turn the text around stands in it as its number. */
export function pretty (data: object): string {
  return JSON.stringify(data, null, 2)
    .replaceAll(/[\u202a-\u202e\u2066-\u2069]/g, (control) => `\\u${control.charCodeAt(0).toString(16)}`)
}

function parsed (text: string): { value?: unknown, fault?: string } {
  try {
    return { value: JSON.parse(text) as unknown }
  } catch (error) {
    if (error instanceof SyntaxError) return { fault: error.message }
    throw error
  }
}
