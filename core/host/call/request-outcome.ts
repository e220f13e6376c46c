import { ForbiddenAddress } from '../http/guard.ts'
import { type Failure, failureError, type ProviderErrorWord } from './failure.ts'

/**
 * What the end of a request says about it. `done`: accepted. `refused`: the vendor did nothing and said why. `not done`:
 * certainly not accepted, sending it again is safe. `doubtful`: the vendor may have accepted it.
 */
export type RequestOutcome = 'done' | 'refused' | 'not done' | 'doubtful'

/** The verdict of an HTTP answer; the first row that fits counts. `notProcessed` are the statuses that a service declares. */
const answers: readonly { fits: (status: number, notProcessed: readonly number[]) => boolean, verdict: RequestOutcome }[] = [
  { fits: (status) => status >= 200 && status < 300, verdict: 'done' },
  { fits: (status, notProcessed) => status === 429 || notProcessed.includes(status), verdict: 'not done' },
  { fits: (status) => status >= 400 && status < 500, verdict: 'refused' },
  // A redirect is not followed, and a 5xx can come from anywhere behind the point where the request was accepted.
  { fits: () => true, verdict: 'doubtful' }
]

/** What an HTTP status says. */
export function outcomeOfStatus (status: number, notProcessed: readonly number[]): RequestOutcome {
  return answers.find(({ fits }) => fits(status, notProcessed))?.verdict ?? 'doubtful'
}

/** The word of a refusal whose code the provider's map does not have. */
export function refusalWord (status: number): ProviderErrorWord {
  return status === 401 || status === 403 ? 'authentication_error' : 'provider_error'
}

/**
 * What more is known of a failed request. `word`: what it is called if it is a refusal. `retryAfter`: seconds that the vendor asks for.
 * `ours`: the vendor has no part in it.
 */
export type FailureFacts = { word?: ProviderErrorWord, code?: string, status?: number, retryAfter?: number, ours?: true }

/** A request that did not end well, before it is judged by how far its call has come. */
export class RequestFailure extends Error {
  override name = 'RequestFailure'
  readonly verdict: Exclude<RequestOutcome, 'done'>
  readonly facts: FailureFacts

  constructor (verdict: Exclude<RequestOutcome, 'done'>, message: string, { cause, ...facts }: FailureFacts & { cause?: unknown } = {}) {
    super(message, { cause })
    this.verdict = verdict
    this.facts = facts
  }
}

/** What the codes of Node, undici and OpenSSL mean, as the end of a sentence that begins with the host. */
const troubles: readonly { codes: RegExp, what: string }[] = [
  { codes: /^ECONNREFUSED$/, what: 'refused the connection' },
  { codes: /^(ENOTFOUND|EAI_\w+|ENODATA)$/, what: 'cannot be found, or has no address that may be reached from here' },
  { codes: /^(UND_ERR_CONNECT_TIMEOUT|EHOSTUNREACH|ENETUNREACH|EADDRNOTAVAIL)$/, what: 'cannot be reached' },
  {
    codes: /CERT|^ERR_TLS_|^ERR_SSL_|^UNABLE_TO_|^HOSTNAME_MISMATCH$|^EPROTO$/,
    what: 'has no valid TLS certificate, or does not speak TLS'
  },
  { codes: /TIMEOUT|^ETIMEDOUT$|^ABORT_ERR$/, what: 'did not answer in time' },
  { codes: /^(ECONNRESET|EPIPE|UND_ERR_SOCKET|UND_ERR_ABORTED)$/, what: 'cut the connection' },
  { codes: /^HPE_|^UND_ERR_(RES|HEADERS_OVERFLOW)|^Z_/, what: 'answered what is not HTTP' }
]

/** What went wrong with a connection, such as "refused the connection". */
export function troubleOf (error: unknown): string {
  const code = codeOf(error)
  return troubles.find(({ codes }) => codes.test(code))?.what ?? `failed (${code === '' ? 'for an unknown reason' : code})`
}

/** There is no connection: nothing was sent. An address that may not be reached is not the vendor's fault. */
export function unconnected (host: string, cause: unknown): RequestFailure {
  if (cause instanceof ForbiddenAddress) return new RequestFailure('not done', cause.message, { cause, ours: true })
  return new RequestFailure('not done', `"${host}" ${troubleOf(cause)}.`, { cause })
}

/** The code of an error or of what caused it. */
export function codeOf (error: unknown): string {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    if ('code' in cause && typeof cause.code === 'string') return cause.code
  }
  return ''
}

/** How far a call has come, and what the host must not forget about it. */
export type CallProgress = {
  /** From here on, what is sent can no longer be repeated: the point of no return. */
  passCheckpoint: () => void
  readonly passed: boolean
  /** Tells that a request ended well. `unsafe`: it was one that changes something at the vendor. */
  done: (request: { unsafe: boolean }) => void
  /** The word of a request that ended badly; `refusal` is the word for the verdict `refused`. A doubt is remembered. */
  failed: (
    verdict: Exclude<RequestOutcome, 'done'>,
    request: { unsafe: boolean, refusal: ProviderErrorWord, message: string }
  ) => ProviderErrorWord
  /** The first doubt about what the vendor accepted: whatever a provider makes of it, it is not a refusal. */
  readonly doubt: Failure | undefined
}

/** The progress of one call. `passed`: whether its first request is already at the point of no return. */
export function createProgress ({ passed: begunPassed }: { passed: boolean }): CallProgress {
  let passed = begunPassed
  let accepted = false
  let doubt: Failure | undefined
  return {
    passCheckpoint () {
      passed = true
    },
    get passed () {
      return passed
    },
    get doubt () {
      return doubt
    },
    done ({ unsafe }) {
      accepted ||= passed && unsafe
    },
    failed (verdict, { unsafe, refusal, message }) {
      if (passed && (accepted || (unsafe && verdict === 'doubtful'))) {
        doubt ??= { word: 'outcome_unknown', message }
        return 'outcome_unknown'
      }
      return verdict === 'refused' ? refusal : 'provider_unavailable'
    }
  }
}

/** The error that a provider catches: a failed request as it counts for its call. */
export function providerErrorOf (failure: RequestFailure, progress: CallProgress, { unsafe }: { unsafe: boolean }): Error {
  const { verdict, message, facts: { word: refusal = 'provider_error', ...facts } } = failure
  return failureError({ ...facts, word: progress.failed(verdict, { unsafe, refusal, message }), message }, failure)
}
