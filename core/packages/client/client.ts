import { type CallError, errorOf, type Facts, type FailedStep, type Problem } from './errors.ts'
import { eventsOf, type ServerEvent } from './events.ts'
import { fillPath, type Operation, type Operations, queryOf, readOperation } from './operations.ts'
import { type Form, formOf, type Progress, type Upload } from './upload.ts'

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
  /** Seconds until a try without an answer is given up; 120 unless given. */
  timeout?: number
  /** Further headers of each request. */
  headers?: Readonly<Record<string, string>>
}

/** What a single call may say besides its parameters. */
export type CallOptions = Pick<ClientOptions, 'retries' | 'timeout' | 'headers'> & {
  /** In the place of one that the client makes. */
  idempotencyKey?: string
  /** Ends the call. What was sent by then may have its effect. */
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

/** What one try ends with: an answer, or an error and whether another try is safe and makes sense. */
type Try = { answer: Response, body: unknown } | { error: CallError, again: boolean }

const optionNames = new Set(['idempotencyKey', 'signal', 'onProgress', 'retries', 'timeout', 'headers'])

/** A client with a method for each operation. */
export function clientOf (given: ClientOptions, { operations, apiVersion, pause = sleep }: Description): object {
  const { retries = 3, patience = 60, timeout = 120, fetch: ask = fetch, headers = {}, key, login } = given
  const base = baseOf(given.baseUrl)

  async function authorization (): Promise<Record<string, string>> {
    const token = typeof key === 'function' ? await key() : key
    if (token !== undefined) return { authorization: `Bearer ${token}` }
    if (login === undefined) return {}
    return { authorization: `Basic ${btoa(String.fromCharCode(...new TextEncoder().encode(`${login.email}:${login.password}`)))}` }
  }

  /** The answer of a call, after as many tries as are safe. */
  async function send (call: Call): Promise<{ answer: Response, body: unknown } & Keyed> {
    const { operation: { traits }, options } = call
    const idempotencyKey = options.idempotencyKey ?? crypto.randomUUID()
    const form = traits.has('form') ? formOf(call.body as Upload, options.onProgress) : undefined
    for (let left = options.retries ?? retries;; left--) {
      options.signal?.throwIfAborted()
      const result = await attempt(call, idempotencyKey, form)
      if ('answer' in result) return { ...result, idempotencyKey, replayed: result.answer.headers.get('idempotency-replayed') === 'true' }
      const seconds = result.error.retryAfter ?? 2 ** ((options.retries ?? retries) - left) / 2
      if (!result.again || left <= 0 || seconds > patience || form?.spent() === true) throw result.error
      await pause(seconds, options.signal)
    }
  }

  async function attempt (call: Call, idempotencyKey: string, form: Form | undefined): Promise<Try> {
    const { operation: { method, traits }, options } = call
    const repeatable = method === 'GET' || traits.has('key')
    const facts: Facts = traits.has('key') ? { idempotencyKey } : {}
    const url = `${base}${call.path}${queryOf(call.query)}`
    const body = form === undefined ? traits.has('body') ? JSON.stringify(call.body ?? {}) : undefined : form.open()
    const proof = await authorization()
    const limit = new AbortController()
    const timer = setTimeout(() => limit.abort(), (options.timeout ?? timeout) * 1000)
    try {
      const answer = await ask(url, {
        method,
        redirect: 'manual',
        signal: options.signal === undefined ? limit.signal : AbortSignal.any([limit.signal, options.signal]),
        headers: {
          accept: 'application/json, */*;q=0.5',
          'x-api-version': apiVersion,
          ...body === undefined ? {} : { 'content-type': form?.contentType ?? 'application/json' },
          ...traits.has('key') ? { 'x-idempotency-key': idempotencyKey } : {},
          ...proof,
          ...headers,
          ...options.headers
        },
        ...body === undefined ? {} : { body },
        ...form === undefined ? {} : { duplex: 'half' }
      })
      if (answer.ok && (traits.has('raw') || traits.has('events'))) return { answer, body: undefined }
      return read(answer, await answer.text(), { url, facts, repeatable, isAsync: call.query['async'] === true })
    } catch (cause) {
      options.signal?.throwIfAborted()
      return failure(cause, { url, facts, repeatable, late: limit.signal.aborted })
    } finally {
      clearTimeout(timer)
    }
  }

  const read = (
    answer: Response,
    text: string,
    { url, facts, repeatable, isAsync }: { url: string, facts: Facts, repeatable: boolean, isAsync: boolean }
  ): Try => {
    const httpStatus = answer.status
    const told: Facts = {
      ...facts,
      httpStatus,
      requestId: answer.headers.get('x-request-id') ?? undefined,
      retryAfter: secondsOf(answer.headers)
    }
    const body = parsed(text)
    if (answer.ok && (body !== undefined || text === '')) {
      // The key belongs to a dispatch that was queued: who wants to wait for its end gets that.
      if (isAsync || facts.idempotencyKey === undefined || body === undefined || !isUnderWay(body)) return { answer, body }
      const message = `The dispatch ${textIn(body, 'dispatchId') ?? ''} of this idempotency key is still under way: wait for it.`
      const more = { ...told, dispatchId: textIn(body, 'dispatchId'), retryAfter: 1 }
      return { error: errorOf('idempotency_in_progress', message, more), again: true }
    }
    const word = answer.ok || body === undefined ? undefined : textIn(body, 'error')
    if (word === undefined || body === undefined) return strange(answer, text, { url, facts: told, repeatable })
    const error = errorOf(word,
      explained(word, textIn(body, 'message') ?? '', { base, apiVersion, served: answer.headers.get('x-api-version') }), {
      ...told,
      requestId: textIn(body, 'requestId') ?? told.requestId,
      dispatchId: textIn(body, 'dispatchId'),
      problems: body['details'] as readonly Problem[] | undefined,
      steps: body['steps'] as readonly FailedStep[] | undefined,
      retryUrl: textIn(body, 'retryUrl')
    })
    // Of 504 nothing is known: without the key of the first request a second one could send again.
    const again = httpStatus === 429 || httpStatus === 503 || word === 'idempotency_in_progress' || (httpStatus === 504 && repeatable)
    return { error, again }
  }

  async function json (call: Call): Promise<unknown> {
    const { body, idempotencyKey, replayed } = await send(call)
    return call.operation.traits.has('key') && isObject(body) ? { ...body, idempotencyKey, replayed } : body
  }

  async function* events (call: Call): AsyncGenerator<ServerEvent, undefined> {
    yield* eventsOf((await send(call)).answer)
  }

  function pages (call: Call): Pages<{ data: readonly unknown[] }> {
    const page = async (cursor?: unknown) =>
      await json(cursor === undefined ? call : { ...call, query: { ...call.query, cursor } }) as {
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

  function method (text: string): (...given: unknown[]) => unknown {
    const operation = readOperation(text)
    const { traits } = operation
    const inPath = operation.path.split('{').length - 1
    const hasBody = traits.has('body') || traits.has('form')
    const run = traits.has('pages')
      ? pages
      : traits.has('events')
      ? events
      : traits.has('raw')
      ? async (call: Call) => (await send(call)).answer
      : json
    return (...given) => {
      const last = Object.entries(given[inPath + (hasBody ? 1 : 0)] ?? {})
      return run({
        operation,
        path: fillPath(operation.path, given.slice(0, inPath)),
        body: hasBody ? given[inPath] : undefined,
        query: Object.fromEntries(last.filter(([name]) => !optionNames.has(name))),
        options: Object.fromEntries(last.filter(([name]) => optionNames.has(name)))
      })
    }
  }

  /** Follows a dispatch by its events; where they do not come, by asking. */
  async function wait (dispatch: string | { dispatchId: string }, { signal, atMost, onChange }: WaitOptions = {}): Promise<unknown> {
    const id = typeof dispatch === 'string' ? dispatch : dispatch.dispatchId
    const call = (of: string, tries = retries, query: Record<string, unknown> = {}): Call => {
      const operation = readOperation(of)
      const options = { retries: tries, ...signal === undefined ? {} : { signal } }
      return { operation, path: fillPath(operation.path, [id]), query, body: undefined, options }
    }
    const end = atMost === undefined ? Infinity : Date.now() + atMost * 1000
    let streams = true
    for (;;) {
      const now = await json(call('dispatches/{id} GET')) as { status: string }
      onChange?.(now)
      const left = (end - Date.now()) / 1000
      if (!isUnderWay(now) || left <= 0) return now
      try {
        if (!streams) await pause(Math.min(2, left), signal)
        else {
          for await (const { data } of events(call('dispatches/{id}/changes GET events', 0, { seconds: Math.min(120, Math.ceil(left)) }))) {
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

  const groups = Object.entries(operations).map(([group, methods]) => [
    group,
    Object.fromEntries(Object.entries(methods).map(([name, text]) => [name, method(text)]))
  ])
  return { ...Object.fromEntries(groups) as object, wait }
}

type Way = { url: string, facts: Facts, repeatable: boolean }

/** An answer that is not the service's, or not all of it. */
function strange ({ status, headers, ok }: Response, text: string, { url, facts, repeatable }: Way): Try {
  const type = headers.get('content-type')?.split(';')[0] ?? 'nothing'
  const place = headers.get('location')
  if (status >= 300 && status < 500) {
    const message = place === null
      ? `${url} answered ${status} with ${type}, which Document Dispatch does not: check "baseUrl", and the proxies on the way.`
      : `${url} leads elsewhere, to ${place}: give the address of the service itself as "baseUrl".`
    return { error: errorOf('wrong_address', message, facts), again: status === 429 }
  }
  const message = type === 'application/json'
    ? `The answer of ${url} was cut on its way, after ${text.length} characters.`
    : `${url} answered ${status} with ${type}, which Document Dispatch does not: a proxy on the way, or another service at "baseUrl".`
  // A proxy whose service is away, or an answer of which a part is lost.
  const again = repeatable && (type === 'application/json' || (!ok && status !== 500))
  return { error: errorOf('unreadable_answer', `${message} ${whatNow(facts, repeatable)}`, facts), again }
}

/** An error of the way: there was no answer, or only a part of one. */
function failure (cause: unknown, { url, facts, repeatable, late }: Way & { late: boolean }): Try {
  const { origin } = new URL(url)
  const code = codeOf(cause)
  const told = { ...facts, cause }
  if (late) {
    return { error: errorOf('connection_lost', `${origin} did not answer in time. ${whatNow(facts, repeatable)}`, told), again: repeatable }
  }
  if (code === 'CERT_HAS_EXPIRED' || code === 'CERT_NOT_YET_VALID') {
    const message = `The certificate of ${origin} is ${code === 'CERT_HAS_EXPIRED' ? 'no longer' : 'not yet'} valid by the clock of this ` +
      `machine, which says ${new Date().toISOString()}: set it, or tell who runs the service. Nothing was sent.`
    return { error: errorOf('unreachable', message, told), again: false }
  }
  if (code !== undefined && /CERT|LEAF_SIGNATURE|HOSTNAME_MISMATCH/.test(code)) {
    const message = `The certificate of ${origin} is not trusted (${code}): check "baseUrl", and the authorities that ` +
      'are trusted (NODE_EXTRA_CA_CERTS adds some). Nothing was sent.'
    return { error: errorOf('unreachable', message, told), again: false }
  }
  const unsent = unsentCodes[code ?? '']
  if (unsent !== undefined) {
    return { error: errorOf('unreachable', `${origin} ${unsent} (${code ?? ''}). Nothing was sent.`, told), again: true }
  }
  const message = `The connection with ${origin} ended before the whole answer was there (${code ?? lowest(cause)}). ${
    whatNow(facts, repeatable)
  }`
  return { error: errorOf('connection_lost', message, told), again: repeatable }
}

function whatNow ({ idempotencyKey }: Facts, repeatable: boolean): string {
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

type Between = { base: string, apiVersion: string, served: string | null }

/** The sentence of an error, with what to do about it at the client. `served`: the version that answered. */
function explained (word: string, message: string, { base, apiVersion, served }: Between): string {
  const { pathname } = new URL(base)
  if (word === 'not_found' && pathname !== '/') {
    return `${message} "baseUrl" has the path "${pathname}": leave it out, unless the service is there.`
  }
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
