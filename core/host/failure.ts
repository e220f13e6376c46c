import type { ErrorWord } from '../contract/errors.ts'

/** The error words that a vendor's answer can become, and what each says about the request. */
export const providerErrors = {
  provider_error: 'rejected',
  authentication_error: 'rejected',
  provider_unavailable: 'unavailable',
  outcome_unknown: 'uncertain'
} as const satisfies Partial<Record<ErrorWord, string>>

export type ProviderErrorWord = keyof typeof providerErrors

/** What a provider said went wrong: its vendor's own code, or the word itself where the vendor said nothing. */
export type Failure = { code: string, message: string } | { word: ProviderErrorWord, message: string }

/** Registered for the whole process, so that a provider that carries its own copy of this module is understood too. */
const brand = Symbol.for('@dispatch/core/provider failure')

class ProviderFailure extends Error {
  override name = 'ProviderFailure'
  readonly [brand]: Failure

  constructor (failure: Failure) {
    super(failure.message)
    this[brand] = failure
  }
}

/**
 * The vendor refused the request and did nothing. Its code becomes an error word through the provider's `errors.map`
 * (`provider_error` where the map does not have it); code and message are shown to the client.
 */
export function refused (code: string | number, message: string): Error {
  return new ProviderFailure({ code: String(code), message })
}

/** The vendor certainly did not accept the request: sending it again is safe. */
export function unavailable (message: string): Error {
  return new ProviderFailure({ word: 'provider_unavailable', message })
}

/** The vendor may have accepted the request: it is not sent again before that is known. */
export function outcomeUnknown (message: string): Error {
  return new ProviderFailure({ word: 'outcome_unknown', message })
}

/** What a provider reported by throwing, or undefined when it threw anything else: then nothing is known. */
export function failureOf (thrown: unknown): Failure | undefined {
  if (typeof thrown !== 'object' || thrown === null || !(brand in thrown)) return undefined
  const failure: unknown = thrown[brand]
  return isFailure(failure) ? failure : undefined
}

function isFailure (value: unknown): value is Failure {
  if (typeof value !== 'object' || value === null || !('message' in value) || typeof value.message !== 'string') return false
  if ('code' in value) return typeof value.code === 'string'
  return 'word' in value && typeof value.word === 'string' && Object.hasOwn(providerErrors, value.word)
}
