import { type DocumentHandle, type Json, type Log, observe, secondsSince } from '@dispatch/common'
import type { Readable } from 'node:stream'
import type { OwnDocuments, ReadDocument } from '../documents/own-documents.ts'
import type { Line, Notebook } from '../notes/exchanges.ts'
import type { Redactor } from '../notes/redact.ts'
import type { ErrorReading } from '../outcome/failure.ts'
import type { LeaseCheck } from '../outcome/lease-check.ts'
import { type CallProgress, letOut, outcomeOfStatus, providerErrorOf, RequestFailure, troubleOf,
  type VendorRequest } from '../outcome/request-outcome.ts'
import { type FitToReply, httpOf } from './ask.ts'
import { type Body, bodyOf } from './body.ts'
import type { Http, HttpCall } from './call.ts'
import type { Connection } from './connection.ts'
import { credentialsOf } from './credentials.ts'
import { answeredBadly, type ProvesRefusal } from './error-answer.ts'
import { formPairs } from './form.ts'
import type { Jwt } from './jwt.ts'
import { createNamedAddresses, type NamedAddresses } from './named-addresses.ts'
import type { AccessTokenCache, OAuth2 } from './oauth.ts'
import { requireTexts } from './places.ts'
import { contentOf, readReply, type ReplyForm, withHeaders } from './reply.ts'
import type { SessionSignIn } from './session.ts'
import { signIn } from './sign-in.ts'
import { type AllowedHosts, targetOf } from './target.ts'
import { tokensOf } from './tokens.ts'
import type { HttpTransport, TransportReply, TransportRequest } from './transport.ts'

/** Stores a downloaded document, up to the size limit of documents. */
export type KeepDocument = (bytes: Readable, about: { filename: string, contentType: string }) => Promise<DocumentHandle>

/**
 * The options of one call's `http`. `account` identifies the configuration; `own` are the call's documents; `limit` is the call's time
 * limit in milliseconds.
 */
export type HttpOptions = {
  transport: Pick<HttpTransport, 'send'>
  accessTokens: AccessTokenCache
  account: string
  connection?: Connection
  targets: AllowedHosts
  documents: { read: ReadDocument, keep: KeepDocument }
  own: OwnDocuments
  errors: ErrorReading
  provesRefusal: ProvesRefusal
  notProcessed: readonly number[]
  /** Whether the vendor honours the idempotency key of a request. */
  keyed: boolean
  progress: CallProgress
  ended: AbortSignal
  holds: LeaseCheck
  limit: number
  log: Log
  /** Where the exchanges of the call are noted. */
  notebook?: Notebook
  /** `conceal` reports a secret that appeared during the call. It must not be shown either. */
  redact: Pick<Redactor, 'text' | 'json' | 'conceal'>
  now: () => Date
}

type Method = TransportRequest['method']
type Read<Result> = (reply: TransportReply, target: URL, line: Line | undefined) => Promise<Result>
type Options = HttpOptions & { named: NamedAddresses }

/** The `http` of one call of a provider's verb. */
export function createHttp (given: HttpOptions): Http {
  const named = createNamedAddresses(given.targets, given.redact)
  const options = { ...given, named }
  return httpOf(
    (method, url, call, fits) =>
      perform(options, method, url, call, async (reply, target, line) => {
        const { value, body } = await readFitting({ reply, host: target.host, line }, call, fits)
        named.note(target.hostname, body, reply.headers['location'] ?? null, withHeaders(reply, call.replyHeaders ?? [], null))
        return value
      }),
    (url, { filename, ...call }) =>
      perform(options, 'GET', url, { ...call, headers: { accept: '*/*', ...call.headers } }, (reply, { host }) =>
        keep(options, reply, host, filename))
  )
}

/** Sends a request, decides its outcome, and reads the body of a good answer. */
async function perform<Result> (options: Options, method: Method, url: string, call: HttpCall, read: Read<Result>): Promise<Result> {
  const { ended, log, named, progress, targets } = options
  const request = { unsafe: method !== 'GET' }
  const begun = performance.now()
  const facts: { method: Method, host?: string, path?: string, status?: number } = { method }
  const line = options.notebook?.begin(method)
  try {
    if (ended.aborted) {
      throw new RequestFailure('not done', `The provider "${targets.provider}" sent a request after its call had ended.`, { ours: true })
    }
    requireTexts(url, call, options.own)
    const address = targetOf(url, targets, named.has)
    if (named.has(address)) named.take(address, call)
    const target = withQuery(address, call)
    facts.host = target.host
    facts.path = target.pathname
    if (line !== undefined) line.url = target.href
    const reply = await exchange(options, method, { url: target, line, request }, call)
    facts.status = reply.status
    if (line !== undefined) line.status = reply.status
    const verdict = outcomeOfStatus(reply.status, options.notProcessed)
    if (verdict !== 'done') throw await answeredBadly({ ...options, ...request, line }, verdict, reply, target.host)
    const result = await read(reply, target, line)
    progress.done(request)
    return result
  } catch (error) {
    if (line !== undefined && error instanceof Error) line.failure = error.message
    throw error instanceof RequestFailure ? providerErrorOf(error, progress, request) : error
  } finally {
    line?.end()
    const status = facts.status === undefined ? 'none' : String(facts.status)
    observe('vendorRequest', { provider: targets.provider, method, status, seconds: secondsSince(begun) })
    log.debug({ ...facts, ms: Math.round(performance.now() - begun) }, 'vendor called')
  }
}

/** Sends a signed-in request. When the vendor refuses a cached token, the request is sent once more with a new token. */
async function exchange (
  options: HttpOptions,
  method: Method,
  { url, line, request }: { url: URL, line: Line | undefined, request: VendorRequest },
  call: HttpCall
): Promise<TransportReply> {
  const {
    transport: wire,
    accessTokens: tokens,
    account,
    documents: { read },
    own,
    redact: { conceal },
    ended: signal,
    holds,
    limit: answerWithin,
    progress,
    targets: { provider },
    now
  } = options
  // What a provider has signed or fetched by itself is no setting. A short text is none of these, and may stand anywhere.
  for (const { value } of credentialsOf(call)) if (value.length >= shortestToken) conceal(value)
  const unmeasured = bodyOf(call, { read, own }, holds)
  const body = unmeasured.measure === undefined ? unmeasured : { ...unmeasured, length: await unmeasured.measure() }
  const headers = headersOf(call, body)
  let kept: string | undefined
  const token = async (of: OAuth2 | SessionSignIn): Promise<string> => {
    const { value, cached } = await tokensOf(options, of).token()
    conceal(value)
    kept = cached ? value : undefined
    return value
  }
  const signed = async (jwt: Jwt): Promise<string> => {
    const value = await tokens.sign(account, jwt)
    conceal(value)
    return value
  }
  const attempt = async (): Promise<TransportReply> => {
    const authorization = await signIn(call, { method, url, headers, body }, { token, signed, now })
    const content = body.open()
    const sent = { ...headers, ...authorization, ...lengthOf(body), 'accept-encoding': 'gzip' }
    if (line !== undefined) Object.assign(line, { headers: sent, body: noted(content, body) })
    letOut({ provider, progress, ended: signal }, { host: url.host, request })
    return await wire.send({
      method,
      url,
      headers: sent,
      signal,
      answerWithin,
      holds,
      ...(content !== undefined && { body: content })
    })
  }
  const reply = await attempt()
  const renewable = call.oauth2 ?? call.session
  if (reply.status !== 401 || renewable === undefined || kept === undefined) return reply
  await reply.body.dump()
  await tokensOf(options, renewable).drop(kept)
  return await attempt()
}

/** What is noted of a body: a stream is read once, by the vendor. */
function noted (content: Buffer | Readable | undefined, { length }: Body): Line['body'] {
  return content === undefined || Buffer.isBuffer(content) ? content : { bytes: length }
}

/** Characters. */
const shortestToken = 8

async function readFitting<Value> (
  { reply, host, line }: { reply: TransportReply, host: string, line: Line | undefined },
  { replyAs, replyHeaders }: HttpCall,
  fits: FitToReply<Value>
): Promise<{ value: Value, body: Json }> {
  const body = await readReply(host, reply, replyAs)
  if (line !== undefined) line.answer = body
  const fit = await fits(replyHeaders === undefined ? body : withHeaders(reply, replyHeaders, body))
  if (fit.ok) return { value: fit.value, body }
  const why = fit.problems.slice(0, 3).map(({ path, message }) => `${path} ${message}`.trim()).join(' ')
  throw new RequestFailure('uncertain', `The answer of "${host}" cannot be read: ${why}`, { status: reply.status })
}

async function keep ({ documents, own }: HttpOptions, reply: TransportReply, host: string, filename: string): Promise<DocumentHandle> {
  try {
    const document = await documents.keep(contentOf(reply), {
      filename,
      contentType: String(reply.headers['content-type'] ?? 'application/octet-stream')
    })
    own.add(document)
    return document
  } catch (cause) {
    throw cause instanceof RequestFailure
      ? cause
      : new RequestFailure('uncertain', `The document of "${host}" cannot be kept: it ${troubleOf(cause)}.`, { cause })
  }
}

function withQuery (url: URL, { query = {}, arrays }: HttpCall): URL {
  for (const [key, value] of formPairs(query, arrays)) url.searchParams.append(key, value)
  return url
}

const accepted: Readonly<Record<ReplyForm, string>> = { text: 'text/plain, */*;q=0.5', xml: 'application/xml, text/xml' }

/** The headers that a signature covers. The provider's own headers win over them. */
function headersOf ({ headers = {}, replyAs }: HttpCall, { contentType, headers: ofContent }: Body): Record<string, string> {
  return {
    accept: replyAs === undefined ? 'application/json' : accepted[replyAs],
    'user-agent': 'document-dispatch',
    ...(contentType !== undefined && { 'content-type': contentType }),
    ...ofContent,
    ...Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]))
  }
}

function lengthOf ({ length }: Body): Record<string, string> {
  return length === undefined ? {} : { 'content-length': String(length) }
}
