import type { ErrorWord } from '../../contract/errors.ts'

/** The error words that a vendor's answer can become, and what each says about the request. */
export const providerErrors = {
  provider_error: 'rejected',
  authentication_error: 'rejected',
  distant_service_error: 'rejected',
  provider_unavailable: 'unavailable',
  outcome_unknown: 'uncertain'
} as const satisfies Partial<Record<ErrorWord, string>>

export type ProviderErrorWord = keyof typeof providerErrors

/**
 * What went wrong. `code` is the vendor's own and `status` that of its HTTP answer, where there was one. Without a `word`
 * the code becomes one through the provider's `errors.map`. `at`: the place in the request that is refused, a JSON pointer
 * into what the provider was asked. `retryAfter`: seconds that the vendor asks for. `ours`: the vendor has no part in it.
 */
export type Failure = {
  message: string
  word?: ProviderErrorWord
  code?: string
  status?: number
  at?: string
  retryAfter?: number
  ours?: true
}

/**
 * How a vendor tells its errors: `at` and `message` are JSON pointers into the body to its code and its words (of several
 * the first that leads somewhere counts); `map` has its codes as error words of the service.
 */
export type ErrorReading = {
  at?: string | readonly string[]
  message?: string | readonly string[]
  map: Readonly<Record<string, ProviderErrorWord>>
}

/** Registered for the whole process, so that a provider that carries its own copy of this module is understood too. */
const brand = Symbol.for('@dispatch/core/provider failure')

class ProviderFailure extends Error {
  override name = 'ProviderFailure'
  readonly [brand]: Failure

  constructor (failure: Failure, cause?: unknown) {
    super(failure.message, { cause })
    this[brand] = failure
  }
}

/** The error that carries a failure. */
export function failureError (failure: Failure, cause?: unknown): Error {
  return new ProviderFailure(failure, cause)
}

/**
 * The vendor refused the request and did nothing. Its code becomes an error word through the provider's `errors.map`
 * (`provider_error` where the map does not have it); code and message are shown to the client. `at` says what of the request it is
 * about, where a check of the provider can tell: a JSON pointer such as `/data/number`.
 */
export function refused (code: string | number, message: string, at?: string): Error {
  return failureError({ code: String(code), message, ...(at !== undefined && { at }) })
}

/** The vendor certainly did not accept the request: sending it again is safe. */
export function unavailable (message: string): Error {
  return failureError({ word: 'provider_unavailable', message })
}

/** The vendor may have accepted the request: it is not sent again before that is known. */
export function outcomeUnknown (message: string): Error {
  return failureError({ word: 'outcome_unknown', message })
}

/** What was reported by throwing, by a provider or by the host's ways out; undefined when anything else was thrown. */
export function failureOf (thrown: unknown): Failure | undefined {
  if (typeof thrown !== 'object' || thrown === null || !(brand in thrown)) return undefined
  const failure: unknown = thrown[brand]
  return isFailure(failure) ? failure : undefined
}

function isFailure (value: unknown): value is Failure {
  if (typeof value !== 'object' || value === null) return false
  const { message, word, code, status, at, retryAfter, ours }: { [Field in keyof Failure]?: unknown } = value
  const known = word === undefined || (typeof word === 'string' && Object.hasOwn(providerErrors, word))
  return typeof message === 'string' && known && [word, code].some((field) => field !== undefined) &&
    [code, at].every((text) => text === undefined || typeof text === 'string') &&
    [status, retryAfter].every((number) => number === undefined || typeof number === 'number') && (ours === undefined || ours === true)
}
