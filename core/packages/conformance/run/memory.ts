import type { Json, JsonObject, Log } from '@dispatch/common'
import type { State } from '@dispatch/host'

/** A provider's state in memory, with these entries at first; `entries` shows its content. */
export function memoryState (remembered: JsonObject = {}): State & { entries: ReadonlyMap<string, Json> } {
  const entries = new Map<string, Json>(Object.entries(remembered))
  return {
    entries,
    get: (key) => Promise.resolve(structuredClone(entries.get(key))),
    put (key, value) {
      entries.set(key, structuredClone(value))
      return Promise.resolve()
    },
    putIfAbsent (key, value) {
      const stands = entries.get(key) ?? structuredClone(value)
      entries.set(key, stands)
      return Promise.resolve(structuredClone(stands))
    },
    delete (key) {
      entries.delete(key)
      return Promise.resolve()
    }
  }
}

/** A line of a log. */
export type LogLine = { level: keyof Log, facts: object, message: string }

/** A log that keeps its lines. */
export function memoryLog (): Log & { lines: LogLine[] } {
  const lines: LogLine[] = []
  const write = (level: keyof Log) => (facts: object, message: string): void => {
    lines.push({ level, facts, message })
  }
  return { lines, debug: write('debug'), info: write('info'), warn: write('warn'), error: write('error') }
}
