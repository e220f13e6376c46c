import type { Problem } from '@dispatch/common'

/** A problem at the path when the provider does not declare the value. A provider without a list accepts any value. */
export function checkSupported (
  provider: { code: string },
  path: string,
  value: string | undefined,
  supported: readonly string[] | undefined
): Problem[] {
  if (value === undefined || supported === undefined || supported.includes(value)) return []
  return [notSupported(provider, path, `does not support ${value}; it supports ${supported.join(', ')}`)]
}

/** A problem at the path when the request uses an option that the provider does not declare. */
export function checkOffered (
  provider: { code: string },
  path: string,
  desired: boolean | undefined,
  offered: boolean | undefined,
  what: string
): Problem[] {
  return desired === true && offered !== true ? [notSupported(provider, path, `cannot ${what}`)] : []
}

/** A problem at the path when a number is above the provider's limit. A provider without a limit accepts any number. */
export function checkMax (provider: { code: string }, path: string, value: number, max: number | undefined, unit: string): Problem[] {
  if (max === undefined || value <= max) return []
  return [notSupported(provider, path, `takes at most ${max} ${unit}, and this has ${value}`)]
}

function notSupported ({ code }: { code: string }, path: string, what: string): Problem {
  return { path, code: 'not_supported_by_provider', message: `The provider "${code}" ${what}.` }
}
