/** A problem of a request, with its place. */
export type Problem = { path: string, code: string, message: string, line?: number, column?: number }

/** A step of a chain, as an error tells of it. */
export type FailedStep = { service: string, status: string, error?: { error: string, message: string, reason?: string } }

/** What an error tells besides its word and its sentence. */
export type Facts = {
  /** The status of HTTP; undefined where there was no answer. */
  httpStatus?: number | undefined
  requestId?: string | undefined
  dispatchId?: string | undefined
  /** Which case of the word it is, where a word has several; the service tells it from version 1.1.0 of the API on. */
  reason?: string | undefined
  /** The key under which the request was sent: the same request with the same key is sent once. */
  idempotencyKey?: string | undefined
  /** Seconds until another try makes sense. */
  retryAfter?: number | undefined
  problems?: readonly Problem[] | undefined
  steps?: readonly FailedStep[] | undefined
  retryUrl?: string | undefined
  /** The page of the documentation that explains the error. */
  docs?: string | undefined
  cause?: unknown
}

/** What a word says about whether something was sent: surely not, maybe, or a part of it. */
type Sending = 'not' | 'unknown' | 'part'

/** What every error of a call has. `error` says which class it is: it narrows `CallError`. */
export abstract class DispatchError<Word extends string = string> extends Error {
  /** The machine-readable word. */
  readonly error: Word
  /** Nothing was sent and nothing was changed: the request may be sent again. */
  readonly surelyNotSent: boolean
  /** It may have been sent: repeat the request under its idempotency key, because under another one it may be sent twice. */
  readonly outcomeUnknown: boolean
  readonly httpStatus: number | undefined
  readonly requestId: string | undefined
  readonly dispatchId: string | undefined
  /** Which case of the word it is, where a word has several; from version 1.1.0 of the API on. */
  readonly reason: string | undefined
  readonly idempotencyKey: string | undefined
  /** Seconds until another try makes sense; undefined where none does. */
  readonly retryAfter: number | undefined
  /** All problems of the request, each with its place as a JSON pointer. */
  readonly problems: readonly Problem[]
  /** The page of the documentation that explains the error. */
  readonly docs: string | undefined

  constructor (error: Word, message: string, facts: Facts, sending: Sending) {
    super(message, { cause: facts.cause })
    this.name = new.target.name
    this.error = error
    this.surelyNotSent = sending === 'not'
    this.outcomeUnknown = sending === 'unknown'
    this.httpStatus = facts.httpStatus
    this.requestId = facts.requestId
    this.dispatchId = facts.dispatchId
    this.reason = facts.reason
    this.idempotencyKey = facts.idempotencyKey
    this.retryAfter = facts.retryAfter
    this.problems = facts.problems ?? []
    this.docs = facts.docs
  }
}

/** The request is wrong: `problems` say where. */
export class InvalidRequestError extends DispatchError<
  | 'validation_error'
  | 'validation_failed'
  | 'unsupported_version'
  | 'payload_too_large'
  | 'unsupported_media_type'
  | 'expectation_failed'
  | 'suppressed'
  | 'idempotency_key_reused'
> {}
/** The key or the login does not let this through. */
export class AccessError extends DispatchError<
  | 'unauthorized'
  | 'fresh_proof_required'
  | 'forbidden'
  | 'approval_required'
  | 'https_required'
  | 'authorization_pending'
  | 'slow_down'
  | 'access_denied'
  | 'expired_token'
> {}
export class NotFoundError extends DispatchError<'not_found' | 'template_not_found' | 'unknown_service' | 'unknown_chain'> {}
/** The state of things does not allow it. */
export class ConflictError extends DispatchError<'conflict' | 'consent_required' | 'document_expired'> {}
export class CreditsError extends DispatchError<'insufficient_credits' | 'budget_exceeded'> {}
/** The provider refused it, or none can do it. */
export class ProviderError extends DispatchError<
  'provider_error' | 'authentication_error' | 'configuration_missing' | 'distant_service_error'
> {}
/** Some steps of a chain succeeded. `client.dispatches.retry(dispatchId)` runs the others, and repeats none. */
export class PartialDispatchError extends DispatchError<'partially_dispatched'> {
  readonly steps: readonly FailedStep[]
  readonly retryUrl: string | undefined
  constructor (error: 'partially_dispatched', message: string, facts: Facts, sending: Sending) {
    super(error, message, facts, sending)
    this.steps = facts.steps ?? []
    this.retryUrl = facts.retryUrl
  }
}
/** Not now: it was tried as often as the client may, or the pause is longer than it may wait. */
export class BusyError extends DispatchError<'rate_limited' | 'service_unavailable' | 'provider_unavailable' | 'idempotency_in_progress'> {}
/** It may have been sent. */
export class UnknownOutcomeError extends DispatchError<'timeout' | 'recording_unknown' | 'outcome_unknown' | 'internal_error'> {}
export class DocumentError extends DispatchError<'document_damaged'> {}
/** There was no answer, or not all of one. `unreachable`: nothing was sent. */
export class ConnectionError extends DispatchError<'unreachable' | 'connection_lost'> {}
/** Something answered, but not as this client understands it. `wrong_address`: it was not the service, and nothing was sent. */
export class AnswerError extends DispatchError<'wrong_address' | 'unreadable_answer' | 'unknown_error'> {}

/** Every error of a call: its `error` narrows it. */
export type CallError =
  | InvalidRequestError
  | AccessError
  | NotFoundError
  | ConflictError
  | CreditsError
  | ProviderError
  | PartialDispatchError
  | BusyError
  | UnknownOutcomeError
  | DocumentError
  | ConnectionError
  | AnswerError

export function isCallError (error: unknown): error is CallError {
  return error instanceof DispatchError
}

type Make = (word: string, message: string, facts: Facts) => CallError | undefined
type Made<Word> = new(word: Word, message: string, facts: Facts, sending: Sending) => CallError

/** The words of a class, each of which says so of whether something was sent. */
function kind<Word extends string> (Class: Made<Word>, sending: Sending, ...words: readonly Word[]): Make {
  const has = (word: string): word is Word => (words as readonly string[]).includes(word)
  return (word, message, facts) => has(word) ? new Class(word, message, facts, sending) : undefined
}

const kinds = [
  kind(InvalidRequestError, 'not', 'validation_error', 'validation_failed', 'unsupported_version', 'payload_too_large',
    'unsupported_media_type', 'expectation_failed', 'suppressed', 'idempotency_key_reused'),
  kind(AccessError, 'not', 'unauthorized', 'fresh_proof_required', 'forbidden', 'approval_required', 'https_required',
    'authorization_pending', 'slow_down', 'access_denied', 'expired_token'),
  kind(NotFoundError, 'not', 'not_found', 'template_not_found', 'unknown_service', 'unknown_chain'),
  kind(ConflictError, 'not', 'conflict', 'consent_required', 'document_expired'),
  kind(CreditsError, 'not', 'insufficient_credits', 'budget_exceeded'),
  kind(ProviderError, 'not', 'provider_error', 'authentication_error', 'configuration_missing', 'distant_service_error'),
  kind(PartialDispatchError, 'part', 'partially_dispatched'),
  kind(BusyError, 'not', 'rate_limited', 'service_unavailable', 'provider_unavailable'),
  kind(BusyError, 'unknown', 'idempotency_in_progress'),
  kind(UnknownOutcomeError, 'unknown', 'timeout', 'recording_unknown', 'outcome_unknown', 'internal_error'),
  kind(DocumentError, 'not', 'document_damaged'),
  kind(ConnectionError, 'not', 'unreachable'),
  kind(ConnectionError, 'unknown', 'connection_lost'),
  kind(AnswerError, 'not', 'wrong_address'),
  kind(AnswerError, 'unknown', 'unreadable_answer', 'unknown_error')
]

/** The error of a word; a word that this version does not know becomes `unknown_error`. */
export function errorOf (word: string, message: string, facts: Facts): CallError {
  for (const make of kinds) {
    const error = make(word, message, facts)
    if (error !== undefined) return error
  }
  return new AnswerError('unknown_error',
    `${message} (The service calls this "${word}", which this version of @dispatch/client does not know: update the package.)`, facts,
    'unknown')
}
