import type { Json } from '@dispatch/common'
import { type Failure, failureError, type ProviderErrorWord } from './failure.ts'
import { ForbiddenAddress } from './forbidden-address.ts'

/**
 * What the end of a request says about it. `done`: accepted. `refused`: the vendor did nothing and said why. `not done`: certainly not
 * accepted, and safe to send again. `uncertain`: the vendor may have accepted it.
 */
export type RequestOutcome = 'done' | 'refused' | 'not done' | 'uncertain'

/** The outcome for an HTTP status; the first row that fits counts. `notProcessed` are the statuses that a service declares. */
const answers: readonly { fits: (status: number, notProcessed: readonly number[]) => boolean, verdict: RequestOutcome }[] = [
  { fits: (status) => status >= 200 && status < 300, verdict: 'done' },
  { fits: (status, notProcessed) => status === 429 || notProcessed.includes(status), verdict: 'not done' },
  { fits: (status) => status >= 400 && status < 500, verdict: 'refused' },
  // A redirect is not followed. A 5xx may come from a server behind the one that has accepted the request.
  { fits: () => true, verdict: 'uncertain' }
]

/** The outcome for an HTTP status. */
export function outcomeOfStatus (status: number, notProcessed: readonly number[]): RequestOutcome {
  return answers.find(({ fits }) => fits(status, notProcessed))?.verdict ?? 'uncertain'
}

/** The error word of a refusal whose code is not in the provider's map. */
export function refusalWord (status: number): ProviderErrorWord {
  return status === 401 || status === 403 ? 'authentication_error' : 'provider_error'
}

/**
 * Further facts about a failed request. `word`: the error word if the request is refused, or put off for its recipient. `retryAfter`:
 * seconds that the vendor asks to wait. `body` is that of the answer. `ours`: the fault is in this service and not at the vendor.
 */
export type FailureFacts = { word?: ProviderErrorWord, code?: string, status?: number, retryAfter?: number, body?: Json, ours?: true }

/** A failed request, before the progress of its call is taken into account. */
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

/** Error codes of Node, undici and OpenSSL in words: the end of a sentence that begins with the host. */
const troubles: readonly { codes: RegExp, what: string }[] = [
  { codes: /^ECONNREFUSED$/, what: 'refused the connection' },
  { codes: /^(ENOTFOUND|EAI_\w+|ENODATA)$/, what: 'cannot be found, or has no permitted address' },
  { codes: /^(UND_ERR_CONNECT_TIMEOUT|EHOSTUNREACH|ENETUNREACH|EADDRNOTAVAIL)$/, what: 'cannot be reached' },
  {
    codes: /CERT|^ERR_TLS_|^ERR_SSL_|^UNABLE_TO_|^HOSTNAME_MISMATCH$|^EPROTO$/,
    what: 'has no valid TLS certificate, or does not speak TLS'
  },
  { codes: /TIMEOUT|^ETIMEDOUT$|^ABORT_ERR$/, what: 'did not answer in time' },
  { codes: /^(ECONNRESET|EPIPE|UND_ERR_SOCKET|UND_ERR_ABORTED)$/, what: 'cut the connection' },
  { codes: /^HPE_|^UND_ERR_(RES|HEADERS_OVERFLOW)|^Z_/, what: 'sent an answer that is not HTTP' }
]

/** What went wrong with a connection, such as "refused the connection". */
export function troubleOf (error: unknown): string {
  const code = codeOf(error)
  return troubles.find(({ codes }) => codes.test(code))?.what ?? `failed (${code === '' ? 'for an unknown reason' : code})`
}

/** The connection failed, so nothing was sent. A forbidden address is not the vendor's fault. */
export function unconnected (host: string, cause: unknown): RequestFailure {
  if (cause instanceof ForbiddenAddress) return new RequestFailure('not done', cause.message, { cause, ours: true })
  return new RequestFailure('not done', `"${host}" ${troubleOf(cause)}.`, { cause })
}

/** The code of an error or of its cause. */
export function codeOf (error: unknown): string {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    if ('code' in cause && typeof cause.code === 'string') return cause.code
  }
  return ''
}

/** One request of a call, or one file: the same object from beginning to end. `unsafe`: it changes something at the vendor. */
export type VendorRequest = { unsafe: boolean }

/** How far a call has come, and whether its outcome is uncertain, which the host must remember. */
export type CallProgress = {
  /** The point of no return: requests after it can no longer be repeated. */
  passCheckpoint: () => void
  readonly passed: boolean
  /** Reports that something leaves the service now: a request to this host, or a file. Before that, nothing can have been accepted. */
  leaving: (host?: string, request?: VendorRequest) => void
  /** Whether anything has left the service. */
  readonly hasLeft: boolean
  /** The host that was asked last. */
  readonly requestedHost: string | undefined
  /** Reports a successful request. */
  done: (request: VendorRequest) => void
  /**
   * The error word for a failed request. `refusal` is the word for the outcome `refused`; where it is about the recipient alone, for `not
   * done` too. What is uncertain is remembered.
   */
  failed: (
    verdict: Exclude<RequestOutcome, 'done'>,
    request: VendorRequest,
    reported: { refusal: ProviderErrorWord, message: string }
  ) => ProviderErrorWord
  /**
   * Why it is uncertain what the vendor accepted: the first request whose outcome is unknown, or one that is still under way. Then a
   * refusal that the provider reports does not count.
   */
  readonly uncertain: Failure | undefined
}

const unfinished: Failure = { word: 'outcome_unknown', message: 'A request was still under way when the call ended.' }

/** The progress of one call. `passed`: whether its first request is already after the point of no return. */
export function createProgress ({ passed: begunPassed }: { passed: boolean }): CallProgress {
  let passed = begunPassed
  let accepted = false
  let hasLeft = false
  let requested: string | undefined
  let uncertain: Failure | undefined
  const underWay = new Set<VendorRequest>()
  return {
    passCheckpoint () {
      passed = true
    },
    get passed () {
      return passed
    },
    leaving (host = requested, request = { unsafe: false }) {
      hasLeft = true
      requested = host
      if (request.unsafe) underWay.add(request)
    },
    get hasLeft () {
      return hasLeft
    },
    get requestedHost () {
      return requested
    },
    get uncertain () {
      return uncertain ?? (passed && underWay.size > 0 ? unfinished : undefined)
    },
    done (request) {
      underWay.delete(request)
      accepted ||= passed && request.unsafe
    },
    failed (verdict, request, { refusal, message }) {
      underWay.delete(request)
      const { unsafe } = request
      if (passed && (accepted || (unsafe && verdict === 'uncertain'))) {
        uncertain ??= { word: 'outcome_unknown', message }
        return 'outcome_unknown'
      }
      return verdict === 'refused' || refusal === 'recipient_unavailable' ? refusal : 'provider_unavailable'
    }
  }
}

/** The call to which a request or a file belongs. */
type Leaver = { provider: string, progress: CallProgress, ended: AbortSignal }

/**
 * Lets a request to this host, or a file, leave the service. Throws a {@link RequestFailure} once the call has ended: whether anything had
 * left then decides what became of it.
 */
export function letOut ({ provider, progress, ended }: Leaver, { host, request }: { host?: string, request?: VendorRequest }): void {
  if (ended.aborted) throw new RequestFailure('not done', `The provider "${provider}" went on after its call had ended.`, { ours: true })
  progress.leaving(host, request)
}

/** The error that the provider sees for a failed request, with the progress of the call taken into account. */
export function providerErrorOf (failure: RequestFailure, progress: CallProgress, request: VendorRequest): Error {
  const { verdict, message, facts: { word: refusal = 'provider_error', ...facts } } = failure
  return failureError({ ...facts, word: progress.failed(verdict, request, { refusal, message }), message }, failure)
}
