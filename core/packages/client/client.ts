import { type CallError, errorOf, type Facts, type FailedStep, isCallError, type Problem } from './errors.ts'
import { eventsOf, type ServerEvent } from './events.ts'
import { fillPath, type Operation, type Operations, queryOf, readOperation } from './operations.ts'
import { type Form, formOf, type Progress, type Upload } from './upload.ts'

type Headings = Readonly<Record<string, string>>

/** Where the service is, and who asks. */
export type ClientOptions = {
  /** The address of the service, such as `https://dispatch.example.com`. */
  baseUrl: string | URL
  /** An API key or an access token, or what answers the present one. */
  key?: string | (() => string | Promise<string>)
  /** E-mail address and password, in the place of a key. */
  login?: { email: string, password: string }
  /** In the place of the global one. */
  fetch?: typeof fetch
  /** How often a request is tried again; 3 unless given. */
  retries?: number
  /** The longest pause before another try, in seconds; 60 unless given. A longer one is an error that names it. */
  patience?: number
  /** Seconds until a try without an answer is given up, from the last part of a file that left; 120 unless given. */
  timeout?: number
  /** Further headers of each request. */
  headers?: Headings
}

/** The options of a single call. */
export type CallOptions = Pick<ClientOptions, 'retries' | 'timeout' | 'headers'> & {
  /** In the place of one that the client makes. */
  idempotencyKey?: string
  /** Ends the call. What was sent by then may have its effect: then the call ends with `connection_lost`, whose cause is the reason. */
  signal?: AbortSignal
  /** Told while a file is sent. */
  onProgress?: Progress
}

/** What the answer of an operation with an idempotency key has besides. `replayed`: an earlier request with the key was answered. */
export type Keyed = { idempotencyKey: string, replayed: boolean }

/** A page of a list; as an iterable, all items of all pages. */
export type Pages<Page extends { data: readonly unknown[] }> = PromiseLike<Page> & AsyncIterable<Page['data'][number]>

export type WaitOptions = Pick<CallOptions, 'signal'> & {
  /** Seconds; then `wait` answers the dispatch as it is. Without end unless given. */
  atMost?: number
  /** Told of each change. */
  onChange?: (dispatch: { status: string }) => void
}

/** What a client is made of besides its options. `apiVersion`: the version of the API that its types describe. */
export type Description = { operations: Operations, apiVersion: string, pause?: (seconds: number, signal?: AbortSignal) => Promise<void> }

type Call = { operation: Operation, path: string, query: Readonly<Record<string, unknown>>, body: unknown, options: CallOptions }

/** How one try goes: where to, what is known of it, whether it may be repeated. */
type Way = { call: Call, url: string, facts: Facts, repeatable: boolean }

/** What one try ends with: an answer, or an error and whether another try is safe and makes sense. */
type Try = { answer: Response, body: unknown } | { error: CallError, again: boolean }

const optionNames = new Set(['idempotencyKey', 'signal', 'onProgress', 'retries', 'timeout', 'headers'])

/** With what a client asks: its options, as they are where none are given. `pause` waits for seconds. */
type Asking =
  & Required<Pick<ClientOptions, 'retries' | 'patience' | 'timeout' | 'headers'>>
  & { ask: typeof fetch, key: ClientOptions['key'], login: ClientOptions['login'] }
  & { base: string, apiVersion: string, pause: (seconds: number, signal?: AbortSignal) => Promise<void> }

/** A client with a method for each operation. */
export function clientOf (given: ClientOptions, { operations, apiVersion, pause = sleep }: Description): object {
  const { retries = 3, patience = 60, timeout = 120, fetch: ask = fetch, headers = {}, key, login } = given
  const asking: Asking = { retries, patience, timeout, ask, headers, key, login, base: baseOf(given.baseUrl), apiVersion, pause }
  const groups = Object.entries(operations).map(([group, methods]) => [
    group,
    Object.fromEntries(Object.entries(methods).map(([name, text]) => [name, method(asking, text)]))
  ])
  const waiting = (dispatch: string | { dispatchId: string }, options?: WaitOptions): Promise<unknown> => wait(asking, dispatch, options)
  return { ...Object.fromEntries(groups) as object, wait: waiting }
}

async function authorization ({ key, login }: Asking): Promise<Headings> {
  const token = typeof key === 'function' ? await key() : key
  if (token !== undefined) return { authorization: `Bearer ${token}` }
  if (login === undefined) return {}
  return { authorization: `Basic ${btoa(String.fromCharCode(...new TextEncoder().encode(`${login.email}:${login.password}`)))}` }
}

/** The answer of a call, after as many tries as are safe. */
async function send (asking: Asking, call: Call): Promise<{ answer: Response, body: unknown } & Keyed> {
  const { operation: { traits }, options: { idempotencyKey = crypto.randomUUID(), signal, onProgress, retries: tries = asking.retries } } =
    call
  const form = traits.has('form') ? formOf(call.body as Upload, onProgress) : undefined
  // The last try that may have been sent: what comes to nothing after it changes nothing of that.
  let doubt: CallError | undefined
  for (let left = tries;; left--) {
    try {
      signal?.throwIfAborted()
      const result = await attempt(asking, call, idempotencyKey, form)
      if ('answer' in result) return { ...result, idempotencyKey, replayed: result.answer.headers.get('idempotency-replayed') === 'true' }
      const { error, again } = result
      if (error.outcomeUnknown && traits.has('key')) doubt = error
      const seconds = error.retryAfter ?? 2 ** (tries - left) / 2
      if (!again || left <= 0 || seconds > asking.patience || form?.spent() === true) throw error
      await asking.pause(seconds, signal)
    } catch (cause) {
      throw doubt === undefined || settles(cause) ? cause : inDoubt(doubt, cause)
    }
  }
}

async function attempt (asking: Asking, call: Call, idempotencyKey: string, form: Form | undefined): Promise<Try> {
  const { operation: { method, traits }, options } = call
  // Browsers take no `fetch` that is called as a method.
  const { ask } = asking
  const url = `${asking.base}${call.path}${queryOf(call.query)}`
  const way: Way = {
    call,
    url,
    facts: traits.has('key') ? { idempotencyKey } : {},
    repeatable: method === 'GET' || traits.has('key')
  }
  const limit = new AbortController()
  let timer: ReturnType<typeof setTimeout> | undefined
  const begin = (): void => {
    clearTimeout(timer)
    timer = setTimeout(() => limit.abort(), (options.timeout ?? asking.timeout) * 1000)
  }
  // As long as a file flows, it is not late.
  const body = form === undefined ? traits.has('body') ? JSON.stringify(call.body ?? {}) : undefined : form.open(begin)
  const own = headersOf({ ...asking.headers, ...options.headers })
  if ('idempotency-key' in own || 'x-idempotency-key' in own) {
    throw new TypeError('Give the idempotency key as the option "idempotencyKey" of the call, not as a header.')
  }
  const sent = headersOf({
    accept: 'application/json, */*;q=0.5',
    'x-api-version': asking.apiVersion,
    ...body === undefined ? {} : { 'content-type': form?.contentType ?? 'application/json' },
    ...traits.has('key') ? { 'x-idempotency-key': idempotencyKey } : {},
    ...await authorization(asking),
    ...own
  })
  options.signal?.throwIfAborted()
  begin()
  try {
    const answer = await ask(url, {
      method,
      redirect: 'manual',
      signal: options.signal === undefined ? limit.signal : AbortSignal.any([limit.signal, options.signal]),
      headers: sent,
      ...body === undefined ? {} : { body },
      ...form === undefined ? {} : { duplex: 'half' }
    })
    return answer.ok && isRaw(answer, traits) ? { answer, body: undefined } : read(asking, answer, await answer.text(), way)
  } catch (cause) {
    if (options.signal?.aborted !== true) return failure(cause, way, limit.signal.aborted)
    if (method === 'GET') throw options.signal.reason
    const message = `The call was ended before the answer of ${url} was there. ${whatNow(way)}`
    return { error: errorOf('connection_lost', message, { ...way.facts, cause: options.signal.reason }), again: false }
  } finally {
    clearTimeout(timer)
  }
}

function read ({ base, apiVersion, key }: Asking, answer: Response, text: string, way: Way): Try {
  const { call: { operation: { traits }, query }, facts, repeatable } = way
  const httpStatus = answer.status
  const reported: Facts = {
    ...facts,
    httpStatus,
    requestId: answer.headers.get('x-request-id') ?? undefined,
    retryAfter: secondsOf(answer.headers)
  }
  const body = parsed(text)
  if (answer.ok && (text === '' ? traits.has('nothing') : body !== undefined && !traits.has('raw') && !traits.has('events'))) {
    // The key belongs to a dispatch that was queued: who wants to wait for its end gets that.
    if (query['async'] === true || facts.idempotencyKey === undefined || body === undefined || !isUnderWay(body)) return { answer, body }
    const message = `The dispatch ${textIn(body, 'dispatchId') ?? ''} of this idempotency key is still under way: wait for it.`
    const more = { ...reported, dispatchId: textIn(body, 'dispatchId'), retryAfter: 1 }
    return { error: errorOf('idempotency_in_progress', message, more), again: true }
  }
  const word = answer.ok || body === undefined ? undefined : textIn(body, 'error')
  if (word === undefined || body === undefined) return strange(answer, text, { ...way, facts: reported })
  const error = errorOf(word, explained(word, textIn(body, 'message') ?? '', {
    base,
    apiVersion,
    served: answer.headers.get('x-api-version'),
    isLogin: key === undefined
  }), {
    ...reported,
    requestId: textIn(body, 'requestId') ?? reported.requestId,
    dispatchId: textIn(body, 'dispatchId'),
    reason: textIn(body, 'reason'),
    problems: body['details'] as readonly Problem[] | undefined,
    steps: body['steps'] as readonly FailedStep[] | undefined,
    retryUrl: textIn(body, 'retryUrl'),
    docs: 'docs' in body ? new URL(String(body['docs']), base).href : undefined
  })
  // A word that nobody knows, without the id that each answer of the service has: "Not Found" of a gateway.
  if (error.error === 'unknown_error' && error.requestId === undefined) return strange(answer, text, { ...way, facts: reported })
  // After an unknown outcome, such as 504, a second request without the key of the first could send again.
  const passes = httpStatus === 429 || httpStatus === 503 || httpStatus === 504 || word === 'idempotency_in_progress'
  return { error, again: passes && (repeatable || error.surelyNotSent) }
}

async function json (asking: Asking, call: Call): Promise<unknown> {
  const { body, idempotencyKey, replayed } = await send(asking, call)
  return call.operation.traits.has('key') && isObject(body) ? { ...body, idempotencyKey, replayed } : body
}

async function* events (asking: Asking, call: Call): AsyncGenerator<ServerEvent, undefined> {
  yield* eventsOf((await send(asking, call)).answer)
}

function pages (asking: Asking, call: Call): Pages<{ data: readonly unknown[] }> {
  const page = async (cursor?: unknown) =>
    await json(asking, cursor === undefined ? call : { ...call, query: { ...call.query, cursor } }) as {
      data: readonly unknown[]
      nextCursor?: string | null
    }
  return {
    then: (done, failed) => page().then(done, failed),
    async *[Symbol.asyncIterator] () {
      for (let cursor: unknown; cursor !== null;) {
        const { data, nextCursor = null } = await page(cursor)
        yield* data
        cursor = nextCursor
      }
    }
  }
}

function method (asking: Asking, text: string): (...given: unknown[]) => unknown {
  const operation = readOperation(text)
  const { traits } = operation
  const inPath = operation.path.split('{').length - 1
  const hasBody = traits.has('body') || traits.has('form')
  const run = traits.has('pages')
    ? pages
    : traits.has('raw')
    ? async (_: Asking, call: Call) => (await send(asking, call)).answer
    : traits.has('events')
    ? events
    : json
  return (...given) => {
    const last = Object.entries(given[inPath + (hasBody ? 1 : 0)] ?? {})
    return run(asking, {
      operation,
      path: fillPath(operation.path, given.slice(0, inPath)),
      body: hasBody ? given[inPath] : undefined,
      query: Object.fromEntries(last.filter(([name]) => !optionNames.has(name))),
      options: Object.fromEntries(last.filter(([name]) => optionNames.has(name)))
    })
  }
}

/** Follows a dispatch by its events; where they do not come, by asking. */
async function wait (
  asking: Asking,
  dispatch: string | { dispatchId: string },
  { signal, atMost, onChange }: WaitOptions = {}
): Promise<unknown> {
  const id = typeof dispatch === 'string' ? dispatch : dispatch.dispatchId
  const call = (of: string, tries = asking.retries, query: Record<string, unknown> = {}): Call => {
    const operation = readOperation(of)
    const options = { retries: tries, ...signal === undefined ? {} : { signal } }
    return { operation, path: fillPath(operation.path, [id]), query, body: undefined, options }
  }
  const end = atMost === undefined ? Infinity : Date.now() + atMost * 1000
  let streams = true
  for (;;) {
    const now = await json(asking, call('dispatches/{id} GET')) as { status: string }
    onChange?.(now)
    const left = (end - Date.now()) / 1000
    if (!isUnderWay(now) || left <= 0) return now
    try {
      if (!streams) await asking.pause(Math.min(2, left), signal)
      else {
        for await (const { data } of events(asking,
          call('dispatches/{id}/changes GET events', 0, { seconds: Math.min(120, Math.ceil(left)) })))
        {
          if (!isUnderWay(data as { status: string })) break
          onChange?.(data as { status: string })
        }
      }
    } catch {
      signal?.throwIfAborted()
      // A proxy may let no streams through, and too many may be open.
      streams = false
    }
  }
}

/** Whether an answer is what the operation streams. Pages of proxies come without the version that each answer of the service has. */
function isRaw (answer: Response, traits: ReadonlySet<string>): boolean {
  const type = typeOf(answer)
  if (traits.has('events')) return type === 'text/event-stream'
  return traits.has('raw') && (type !== 'text/html' || answer.headers.has('x-api-version'))
}

function typeOf ({ headers }: Response): string {
  return headers.get('content-type')?.split(';')[0] ?? 'nothing'
}

/** An answer that is not the service's, or not all of it. */
function strange (answer: Response, text: string, way: Way): Try {
  const { url, facts, repeatable } = way
  const { status, headers, ok } = answer
  const type = typeOf(answer)
  const place = headers.get('location')
  const isCut = type === 'application/json' && parsed(text) === undefined
  const sentence = isCut
    ? `The answer of ${url} was cut on its way, after ${text.length} characters.`
    : place === null
    ? `${url} answered ${status} with ${type}, which Document Dispatch does not: check "baseUrl", and the proxies on the way.`
    : `${url} leads elsewhere, to ${place}: give the address of the service itself as "baseUrl".`
  if (!isCut && status >= 300 && status < 500) return { error: errorOf('wrong_address', sentence, facts), again: status === 429 }
  // A proxy whose service is away, or an answer of which a part is lost.
  return {
    error: errorOf('unreadable_answer', `${sentence} ${whatNow(way)}`, facts),
    again: repeatable && (isCut || (!ok && status !== 500))
  }
}

/** Whether an error tells what became of all tries: the service has looked at their key. */
function settles (error: unknown): boolean {
  return isCallError(error) &&
    (error.outcomeUnknown || (error.error !== 'wrong_address' && [400, 402, 409, 422].includes(error.httpStatus ?? 0)))
}

/** What is known after a try that may have been sent, and then something that tells nothing about it. */
function inDoubt (doubt: CallError, cause: unknown): CallError {
  const known: Facts = doubt
  if (!isCallError(cause)) return errorOf(doubt.error, doubt.message, { ...known, cause })
  return errorOf(doubt.error, `${doubt.message} Then: ${cause.message}`, { ...known, retryAfter: cause.retryAfter, cause })
}

/** An error of the way: there was no answer, or only a part of one. */
function failure (cause: unknown, way: Way, late: boolean): Try {
  const { origin } = new URL(way.url)
  const code = codeOf(cause) ?? ''
  const reported = { ...way.facts, cause }
  const unsent = (sentence: string, again: boolean): Try => ({
    error: errorOf('unreachable', `${sentence}. Nothing was sent.`, reported),
    again
  })
  const lost = (sentence: string): Try => ({
    error: errorOf('connection_lost', `${sentence}. ${whatNow(way)}`, reported),
    again: way.repeatable
  })
  if (late) return lost(`${origin} did not answer in time`)
  if (code === 'CERT_HAS_EXPIRED' || code === 'CERT_NOT_YET_VALID') {
    return unsent(
      `The certificate of ${origin} is ${code === 'CERT_HAS_EXPIRED' ? 'no longer' : 'not yet'} valid by the clock of this machine, ` +
        `which says ${new Date().toISOString()}: set it, or tell who runs the service`,
      false
    )
  }
  if (/CERT|LEAF_SIGNATURE|HOSTNAME_MISMATCH/.test(code)) {
    return unsent(
      `The certificate of ${origin} is not trusted (${code}): check "baseUrl", and the authorities that are trusted ` +
        '(NODE_EXTRA_CA_CERTS adds some)',
      false
    )
  }
  const why = unsentCodes[code]
  return why === undefined
    ? lost(`The connection with ${origin} ended before the whole answer was there (${code === '' ? lowest(cause) : code})`)
    : unsent(`${origin} ${why} (${code})`, true)
}

function whatNow ({ facts: { idempotencyKey }, repeatable }: Way): string {
  if (idempotencyKey === undefined) return repeatable ? 'Ask again.' : 'Look whether it was done before you ask again.'
  return `The request may be repeated under its idempotency key, ${idempotencyKey}, and only under it.`
}

/** Errors of the systems below that come before anything is sent. */
const unsentCodes: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'refuses connections: is the service running there, and is "baseUrl" right?',
  ENOTFOUND: 'has no address: check "baseUrl" for a slip',
  EAI_AGAIN: 'has no address at the moment: check the network of this machine',
  EHOSTUNREACH: 'cannot be reached: check the network of this machine',
  ENETUNREACH: 'cannot be reached: check the network of this machine',
  ERR_SSL_WRONG_VERSION_NUMBER: 'does not speak TLS: should "baseUrl" begin with "http://"?',
  ERR_SSL_PACKET_LENGTH_TOO_LONG: 'does not speak TLS: should "baseUrl" begin with "http://"?',
  UND_ERR_CONNECT_TIMEOUT: 'does not take connections: check "baseUrl" and the firewalls on the way',
  ConnectionRefused: 'refuses connections: is the service running there, and is "baseUrl" right?'
}

/** The code of an error, or of the one below it; of several tries, that of the last. */
function codeOf (error: unknown): string | undefined {
  if (!isObject(error)) return undefined
  return typeof error['code'] === 'string' ? error['code'] : codeOf((error['errors'] as unknown[] | undefined)?.at(-1) ?? error['cause'])
}

/** What the error below all others says. */
function lowest (error: unknown): string {
  return error instanceof Error ? error.cause === undefined ? error.message : lowest(error.cause) : String(error)
}

type Between = { base: string, apiVersion: string, served: string | null, isLogin: boolean }

/** The sentence of an error, with what to do about it at the client. `served`: the version that answered. */
function explained (word: string, message: string, { base, apiVersion, served, isLogin }: Between): string {
  const { pathname } = new URL(base)
  // With `/api` in the base, `/api/sms` becomes `/api/api/sms`: a chain whose first service is `api`.
  if ((word === 'not_found' || word === 'unknown_service') && pathname !== '/') {
    return `${message} "baseUrl" has the path "${pathname}": leave it out, unless the service is there.`
  }
  if (word === 'unauthorized' && isLogin) return `${message} Check "login", or give a "key".`
  if (word === 'unauthorized') {
    return `${message} The key may have ended or been revoked: make another one at ${base}/console, or with POST /api/v1/keys.`
  }
  if (word === 'unsupported_version') {
    const isNewer = (served ?? '').localeCompare(apiVersion, 'en', { numeric: true }) > 0
    const todo = isNewer ? 'update the package' : 'upgrade the service, or install an older client'
    return `${message} This version of @dispatch/client speaks ${apiVersion}: ${todo}.`
  }
  return message
}

/** Seconds of Retry-After. A date is compared with that of the answer, because the clock of this machine may be wrong. */
function secondsOf (headers: Headers): number | undefined {
  const [after, date] = [headers.get('retry-after'), headers.get('date')]
  if (after === null) return undefined
  const now = date === null ? Date.now() : Date.parse(date)
  const seconds = /^\d+$/.test(after) ? Number(after) : Math.ceil((Date.parse(after) - now) / 1000)
  return Number.isNaN(seconds) ? undefined : Math.max(0, seconds)
}

/** Headers by their names in small letters, which say each once. Throws for what no header can hold. */
function headersOf (given: Headings): Headings {
  return Object.fromEntries(
    Object.entries(given).map(([written, value]) => {
      const name = written.toLowerCase()
      const [unfit] = /[^\t -~\x80-\xff]/.exec(value.trim()) ?? []
      if (unfit === undefined) return [name, value]
      const place = { authorization: 'key', 'x-idempotency-key': 'idempotencyKey' }[name] ?? name
      throw new TypeError(`"${place}" has the character ${JSON.stringify(unfit)}, which no header can hold. Nothing was sent.`)
    })
  )
}

function isUnderWay ({ status }: { status?: unknown }): boolean {
  return status === 'queued' || status === 'running'
}

function baseOf (given: string | URL): string {
  if (!URL.canParse(String(given)) || !/^https?:$/.test(new URL(given).protocol)) {
    throw new TypeError(`"baseUrl" is an address such as https://dispatch.example.com, not "${String(given)}".`)
  }
  const { origin, pathname, username } = new URL(given)
  if (username !== '') throw new TypeError('"baseUrl" holds no credentials: give "key" or "login".')
  return `${origin}${pathname.replace(/\/+$/, '')}`
}

function parsed (text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return isObject(value) ? value : undefined
  } catch {
    // Not JSON: who asks says what that means.
    return undefined
  }
}

function textIn (body: Readonly<Record<string, unknown>>, name: string): string | undefined {
  return typeof body[name] === 'string' ? body[name] : undefined
}

function isObject (value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null
}

function sleep (seconds: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const end = (): void => {
      clearTimeout(timer)
      signal?.removeEventListener('abort', end)
      if (signal?.aborted === true) reject(signal.reason as Error)
      else resolve()
    }
    const timer = setTimeout(end, seconds * 1000)
    signal?.addEventListener('abort', end)
    if (signal?.aborted === true) end()
  })
}
