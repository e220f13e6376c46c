import { isRecord } from '@dispatch/common'
import { isPlainJson } from '@dispatch/host/process'
import { registerHooks } from 'node:module'
import { pathToFileURL } from 'node:url'
import { functionMark, type Given } from '../protocol.ts'

/** Imports an adapter; what it imports as `@dispatch/core/provider` is this file. */
export async function importAdapter (entry: string): Promise<unknown> {
  registerHooks({
    resolve: (specifier, context, next) =>
      specifier === '@dispatch/core/provider' ? { url: import.meta.url, shortCircuit: true } : next(specifier, context)
  })
  const module = await import(pathToFileURL(entry).href) as { default?: unknown }
  return module.default
}

/** A definition in JSON, its functions as marks: the host makes its manifest of it. */
export function describe (definition: unknown): string {
  return JSON.stringify(definition, (_key, value: unknown) => typeof value === 'function' ? { [functionMark]: true } : value)
}

/** A function of a definition by its place, bound to the object that it was written in. */
export function functionAt (definition: unknown, ...place: string[]): (...args: unknown[]) => unknown {
  let owner: unknown
  let found: unknown = definition
  for (const name of place) {
    owner = found
    found = isRecord(owner) && Object.hasOwn(owner, name) ? owner[name] : undefined
  }
  if (typeof found !== 'function') throw new TypeError(`The adapter has no function ${place.join('.')}.`)
  return found.bind(owner) as (...args: unknown[]) => unknown
}

/** What a function gave, as it can be told. */
export function given (value: unknown): Given {
  if (value === undefined) return {}
  return isPlainJson(value) ? { value } : { unplain: true }
}
