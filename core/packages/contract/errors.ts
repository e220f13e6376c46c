import type { Problem } from '@dispatch/common'
import { isSince, type Version } from './versions.ts'

/**
 * The one table of errors: word → HTTP status, when it occurs, and the default for Retry-After in seconds. Responses, the OpenAPI document
 * and the documentation are built from it. Only the readiness check and requests that are not HTTP have a status of their own.
 */
export const errorTable = {
  validation_error: {
    status: 400,
    when: 'The shape of the request is wrong: a missing field, a wrong type, a bad enum or format, an unknown field, unreadable JSON.'
  },
  unsupported_version: { status: 400, when: 'X-API-Version names a version that does not exist.' },
  authorization_pending: { status: 400, when: 'Nobody has granted this login of a device yet: ask again after its interval.' },
  slow_down: { status: 400, when: 'The device asks too often: from now on its interval is five seconds longer.' },
  access_denied: { status: 400, when: 'A person has declined this login of a device, or cannot grant it any more.' },
  expired_token: { status: 400, when: 'The code of the device never was, has been used or has expired.' },
  unauthorized: { status: 401, when: 'No credentials, wrong ones, or an expired token.' },
  fresh_proof_required: {
    status: 401,
    when: 'The change needs a person who has proved who they are within the last five minutes: log in again with POST /auth, and repeat ' +
      'the request with the new token; or send e-mail address and password with Basic.'
  },
  insufficient_credits: { status: 402, when: 'The free credits of the company do not cover the price of the dispatch.' },
  budget_exceeded: {
    status: 402,
    when: 'A monthly budget of the company, the user or the API key that is a hard stop does not cover the dispatch. Nothing was sent. ' +
      'Before 1.1.0 it is an `insufficient_credits`.',
    since: '1.1.0',
    before: 'insufficient_credits'
  },
  forbidden: { status: 403, when: 'A bad login, a disabled user, or a permission that the user does not have.' },
  approval_required: {
    status: 403,
    when: 'A rule of the company wants somebody else to approve it, and it cannot wait for that: a retry with other data, a file that is ' +
      'uploaded. Nothing was sent. Before 1.1.0 it is a `forbidden`.',
    since: '1.1.0',
    before: 'forbidden'
  },
  https_required: { status: 403, when: 'The request came over plain HTTP, which is not served.' },
  template_not_found: { status: 404, when: 'The template does not exist, or belongs to another company.' },
  not_found: { status: 404, when: 'The resource does not exist, or belongs to another company.' },
  unknown_service: { status: 404, when: 'The path names a service that does not exist.' },
  unknown_chain: { status: 404, when: 'The path names services that cannot follow each other.' },
  document_expired: { status: 409, when: 'The document of the dispatch has been deleted, so its remaining steps cannot run.' },
  idempotency_in_progress: { status: 409, when: 'The first request with this idempotency key is still running.', retryAfter: 1 },
  conflict: { status: 409, when: 'The resource is not in a state that allows the request.' },
  consent_required: {
    status: 409,
    when: 'The adapter asks for hosts or services that the consent does not list: they are in the details.'
  },
  payload_too_large: { status: 413, when: 'The body is larger than allowed.' },
  unsupported_media_type: { status: 415, when: 'The content type of the body is not supported.' },
  expectation_failed: { status: 417, when: 'The sender is not allowed by the SMTP configuration, or there is no recipient.' },
  validation_failed: {
    status: 422,
    when: 'The template data does not fit its schema, a business rule is broken, or the provider does not support the request.'
  },
  provider_error: { status: 422, when: 'The provider refused the request; its own code and text are in the details.' },
  configuration_missing: { status: 422, when: 'No provider is chosen, it is unknown, or it has no valid configuration.' },
  authentication_error: { status: 422, when: 'The provider refused the credentials of the company.' },
  idempotency_key_reused: { status: 422, when: 'The idempotency key was used before with another request.' },
  suppressed: {
    status: 422,
    when: 'Nothing may be sent to a recipient: the details say since when and why. Before 1.1.0 it is a `validation_failed`.',
    since: '1.1.0',
    before: 'validation_failed'
  },
  partially_dispatched: {
    status: 422,
    when: 'Some steps of a chain succeeded before one failed. Do not send the request again: a retry runs the rest.'
  },
  rate_limited: {
    status: 429,
    when: 'More requests, or more failed logins, than the limit allows: Retry-After says in how many seconds to try again.'
  },
  distant_service_error: { status: 500, when: 'The SMTP server rejected the message; the message carries its code.' },
  document_damaged: {
    status: 500,
    when: 'The stored document is damaged: it was truncated, changed or removed on the disk. Nothing of it was sent.'
  },
  internal_error: { status: 500, when: 'A fault of the service itself; it is logged with the request id.' },
  service_unavailable: {
    status: 503,
    when: 'The service cannot reach its database, or not change it, or cannot use its storage of documents: Retry-After says in how many ' +
      'seconds to try again. Nothing was sent. A dispatch was recorded if the error has its dispatchId.',
    retryAfter: 5
  },
  provider_unavailable: {
    status: 503,
    when: 'The provider certainly did not accept the request: it is safe to send it again.',
    retryAfter: 10
  },
  timeout: { status: 504, when: 'A time limit has passed. If the error has a dispatchId, that dispatch continues: read its state later.' },
  recording_unknown: {
    status: 504,
    when: 'It is not known yet whether the request was recorded. If so, the dispatch continues; a minute later 404 says that it was not.'
  },
  outcome_unknown: { status: 504, when: 'The provider may have accepted the request. It is not sent again before the outcome is known.' }
} as const satisfies Record<string, { status: number, when: string, retryAfter?: number, since?: Version, before?: string }>

/** The machine-readable word of an error: the `error` field of every error body. */
export type ErrorWord = keyof typeof errorTable

/** The errors that steps usually have, the most frequent first; where a service fails otherwise, a step may have any other. */
export const usualStepErrors = ['provider_error', 'provider_unavailable', 'authentication_error', 'outcome_unknown', 'timeout',
  'validation_failed', 'suppressed', 'configuration_missing', 'expectation_failed', 'distant_service_error', 'template_not_found',
  'document_expired', 'document_damaged', 'budget_exceeded', 'insufficient_credits', 'approval_required',
  'internal_error'] as const satisfies readonly ErrorWord[]

/** The table's row of an error word. */
export function errorRow (word: ErrorWord): { status: number, when: string, retryAfter?: number } {
  return errorTable[word]
}

/** The word of an error in a version of the API: one that came later is another one before. */
export function wordIn (word: ErrorWord, version: Version): ErrorWord {
  const row = errorTable[word]
  return 'since' in row && !isSince(row.since, version) ? row.before : word
}

/** An error that stands within an answer, as clients of a version read it: reasons are told from 1.1.0 on. */
export function problemIn<Told extends { reason?: string }> (problem: Told, version: Version): Told {
  if (isSince('1.1.0', version)) return problem
  const { reason: _, ...reported } = problem
  return reported as Told
}

/** The state of a rate limit: `quota` calls per `window` seconds; `remaining` calls now, all of them again in `reset` seconds. */
export type RateLimitStatus = { policy: string, quota: number, window: number, remaining: number, reset: number }

/** Limits of an error body. A hostile request could cause any number of problems, and a long message only repeats what the client sent. */
const limits = { problems: 100, path: 300, message: 500 } as const

/** The first problems, up to the limit, each with a bounded length. */
export function presentable (problems: readonly Problem[]): Problem[] {
  return problems.slice(0, limits.problems).map(({ path, code, message, ...place }) => ({
    path: shortened(path, limits.path),
    code,
    message: shortened(message, limits.message),
    ...place
  }))
}

function shortened (text: string, longest: number): string {
  return text.length <= longest ? text : `${text.slice(0, longest).toWellFormed()}…`
}

/** The cases of words that have several, each with what it means. */
export const errorReasons = {
  above_own_role: 'The role, or a service, is not among what the user may give.',
  address_not_permitted: 'The company does not permit requests from this address.',
  at_most: 'There are as many as there may be: remove one first.',
  being_done: 'It is being done or changed by somebody else: try again in a moment.',
  cancelled: 'It was cancelled.',
  changed_meanwhile: 'It was changed, or is gone, since it was read: read it again.',
  decided: 'A decision about it was made before.',
  disabled: 'The user, or the company, is disabled.',
  domain_taken: 'The domain belongs to another company.',
  email_taken: 'A user has this e-mail address.',
  exists: 'There is one like it, or of its name.',
  in_use: 'Something needs it.',
  last_of_role: 'It is the last one of its role.',
  needs_another_person: 'Another person has to do it.',
  needs_approval: 'Somebody else has to approve it first.',
  needs_other_role: 'It takes another role.',
  needs_service: 'The user may not use the service.',
  no_link_by_mail: 'The service mails no links, and who asks can get one from an admin alone.',
  no_mail: 'The service mails no links.',
  not_over: 'The time that it is about is not over.',
  not_taken_back: 'The provider does not take it back.',
  nothing_there: 'There is nothing to do, or nothing that it could be done with.',
  other_report: 'Another report of the period is sent or made: this one is to be removed.',
  required_by_company: 'The company requires it.',
  state_forbids: 'Its state does not permit it.',
  tried_lately: 'It was tried a moment ago.',
  upgrade_under_way: 'A process of an older release still works: try again later.',
  wrong_code: 'The code is wrong, or was used.',
  wrong_credentials: 'The e-mail address or the password is wrong.',
  wrong_password: 'The password is wrong.'
} as const
export type ErrorReason = keyof typeof errorReasons

/** What an error may carry besides its message. */
type ErrorExtra = {
  /** Which case of its word it is, where a word has several: a client can say it in its own language. */
  reason?: ErrorReason
  details?: readonly Problem[]
  dispatchId?: string
  more?: Readonly<Record<string, unknown>>
  retryAfter?: number
  budget?: RateLimitStatus
  cause?: unknown
}

/** An error that is reported to the client. Every other thrown error is an `internal_error`. */
export class DispatchError extends Error {
  readonly word: ErrorWord
  readonly reason: ErrorReason | undefined
  readonly details: readonly Problem[] | undefined
  readonly dispatchId: string | undefined
  /** Further fields of the error body. */
  readonly more: Readonly<Record<string, unknown>>
  /** Seconds until the client should try again. */
  readonly retryAfter: number | undefined
  /** The rate limit that was reached. */
  readonly budget: RateLimitStatus | undefined

  constructor (word: ErrorWord, message: string, extra: ErrorExtra = {}) {
    super(message, { cause: extra.cause })
    this.name = 'DispatchError'
    this.word = word
    this.reason = extra.reason
    this.details = extra.details
    this.dispatchId = extra.dispatchId
    this.more = extra.more ?? {}
    this.retryAfter = extra.retryAfter
    this.budget = extra.budget
  }

  /** The HTTP status that the table gives to this error. */
  get status (): number {
    return errorRow(this.word).status
  }
}

/** An error for several problems: its message is that of the first one, its details hold as many as the limit allows. */
export function refusal (word: ErrorWord, problems: readonly Problem[]): DispatchError {
  const details = presentable(problems)
  const [first] = details
  const sentence = first === undefined ? 'The request is not valid.' : `${placeOf(first)}: ${first.message}`
  const more = problems.length - 1
  return new DispatchError(word, more < 1 ? sentence : `${sentence} And ${more} more: see the details.`, { details })
}

function placeOf ({ path, line, column }: Problem): string {
  const place = path === '' ? 'The request' : path
  return line === undefined ? place : `${place} (line ${line}${column === undefined ? '' : `, column ${column}`})`
}
