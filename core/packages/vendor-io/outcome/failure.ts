import type { Json } from '@dispatch/common'
import type { TSchema } from 'typebox'

/** The error words of a provider, and what each means for the request. */
export const providerErrors = {
  provider_error: 'rejected',
  authentication_error: 'rejected',
  distant_service_error: 'rejected',
  provider_unavailable: 'unavailable',
  recipient_unavailable: 'unavailable',
  outcome_unknown: 'uncertain'
} as const

export type ProviderErrorWord = keyof typeof providerErrors

/**
 * A failure. `code` is the vendor's own code, and `status` the HTTP status, if there was an answer. Without a `word`, the provider's
 * `errors.map` gives the word for the code. `at`: the place in the request that is refused, as a JSON pointer into the provider's request.
 * `retryAfter`: seconds that the vendor asks to wait. `body`: the body of the vendor's answer, without secrets; of one with more than 8,192
 * characters their beginning, as a text. `ours`: the fault is in this service and not at the vendor.
 */
export type Failure = {
  message: string
  word?: ProviderErrorWord
  code?: string
  status?: number
  at?: string
  retryAfter?: number
  body?: Json
  ours?: true
}

/** Where an error tells its code: a JSON pointer into its body, or a header. */
export type ErrorPlace = string | { header: string }

/**
 * An answer which proves that the vendor did nothing, although its status does not: of 500 to 599, or of the one that `status` names. The
 * values at these JSON pointers into its body fit. With `false`, none stands there.
 */
export type Refusal = { status?: number, when: Readonly<Record<string, TSchema | false>> }

/**
 * Where a vendor's error holds its code (`at`) and its message (`message`, JSON pointers in which `*` stands for every item and field); of
 * several places, the first with a text or a number counts. `map` translates the vendor's codes into error words of this service.
 * `refusals`: answers that prove that nothing was done.
 */
export type ErrorReading = {
  at?: ErrorPlace | readonly ErrorPlace[]
  message?: string | readonly string[]
  map: Readonly<Record<string, ProviderErrorWord>>
  refusals?: readonly Refusal[]
}

/** A symbol of the whole process, so that the host also recognizes errors of a provider that carries its own copy of this module. */
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
 * The vendor refused the request and did nothing. The provider's `errors.map` gives the error word for the code, or `provider_error` if it
 * does not have the code. The client sees code and message. `at` names the refused place, if a check of the provider knows it: a JSON
 * pointer such as `/data/number`.
 */
export function refused (code: string | number, message: string, at?: string): Error {
  return failureError({ code: String(code), message, ...(at !== undefined && { at }) })
}

/** The vendor certainly did not accept the request. It is safe to send it again. */
export function unavailable (message: string): Error {
  return failureError({ word: 'provider_unavailable', message })
}

/**
 * The vendor works, but takes nothing for this recipient now, such as a mail server that greylists. Certainly not accepted, and safe to
 * send again. Other recipients are not held back.
 */
export function recipientUnavailable (message: string): Error {
  return failureError({ word: 'recipient_unavailable', message })
}

/** The vendor may have accepted the request. It is not sent again before the outcome is known. */
export function outcomeUnknown (message: string): Error {
  return failureError({ word: 'outcome_unknown', message })
}

/** The failure that a provider or the host reported by throwing; undefined for any other thrown value. */
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
