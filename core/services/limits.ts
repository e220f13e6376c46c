import type { Problem } from '@dispatch/common'

/** What a provider does not do: a problem at the path, unless the value is among those that it declares. Without a list it takes any. */
export function checkSupported (
  provider: { code: string },
  path: string,
  value: string | undefined,
  supported: readonly string[] | undefined
): Problem[] {
  if (value === undefined || supported === undefined || supported.includes(value)) return []
  return [notSupported(provider, path, `does not support ${value}; it supports ${supported.join(', ')}`)]
}

/** What a provider must have declared before it may be asked for. */
export function checkOffered (
  provider: { code: string },
  path: string,
  wanted: boolean | undefined,
  offered: boolean | undefined,
  what: string
): Problem[] {
  return wanted === true && offered !== true ? [notSupported(provider, path, `cannot ${what}`)] : []
}

/** A number beyond what the provider takes. Without a limit it takes any. */
export function checkMost (provider: { code: string }, path: string, value: number, most: number | undefined, unit: string): Problem[] {
  if (most === undefined || value <= most) return []
  return [notSupported(provider, path, `takes at most ${most} ${unit}, and this has ${value}`)]
}

function notSupported ({ code }: { code: string }, path: string, what: string): Problem {
  return { path, code: 'not_supported_by_provider', message: `The provider "${code}" ${what}.` }
}
