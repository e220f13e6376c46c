import type { Fit, Json } from '@dispatch/common'
import type { DryRunView } from '@dispatch/contract'
import type { ServiceName } from '@dispatch/services'
import { type AccessTokenCache, askOf, basicHeader, createRedactor, type FitToReply, formPairs, type Http, httpOf, isCredentialField,
  marker, maskedHeader, type Network, signJwt, tokenRequest, type Tokens, type TransportRequest } from '@dispatch/vendor-io'
import { failureError, RequestFailure } from '@dispatch/vendor-io/outcome'
import { type Readable, Readable as Stream } from 'node:stream'
import type { InstalledProvider } from '../load/load.ts'
import type { State } from '../manifest/context.ts'
import { splitSecrets } from '../settings/settings.ts'
import type { CallApis } from './call-resources.ts'
import { type CallContext, type FailedCall, invokeFunction, type Returned } from './invoke.ts'

type Shown = DryRunView['requests'][number]

/** Milliseconds: a person is waiting. */
const limit = 20_000
/** Characters of a body that are shown. */
const longestBody = 65_536

/**
 * Calls a provider's dispatch with a network that notes what would be sent, and answers nothing. A token is made up, so that the request
 * that needs it is seen too; a search finds nothing. It ends at the first request that would make the dispatch real, or whose answer is
 * needed to go on.
 */
export async function dryRun (
  installed: InstalledProvider,
  service: ServiceName,
  request: unknown,
  context: CallContext
): Promise<DryRunView> {
  const run = installed.verbs[service]?.dispatch
  if (run === undefined) throw new TypeError(`The provider "${installed.code}" has no service "${service}".`)
  const recorder = createRecorder(installed, service, context)
  const called = { run, service, passed: true, ways: recorder.ways }
  return endOf(recorder.requests, await invokeFunction(installed, called, request, recorder.context, { limit }))
}

function endOf (requests: readonly Shown[], called: Returned | FailedCall): DryRunView {
  const last = requests.at(-1)
  if (last?.counts === true) {
    return { requests: [...requests], end: 'complete', message: `With ${nameOf(last)} the dispatch would become real: nothing was sent.` }
  }
  if (last !== undefined) {
    return {
      requests: [...requests],
      end: 'reply_needed',
      message: `What follows ${nameOf(last)} depends on its answer: nothing was sent.`
    }
  }
  if (!('outcome' in called)) return { requests: [], end: 'nothing_sent', message: 'The provider accepts it without a request.' }
  const { outcome, error: { message } } = called
  return { requests: [], end: outcome === 'rejected' ? 'refused' : 'nothing_sent', message }
}

function nameOf ({ method, url }: Shown): string {
  return `${method} ${url}`
}

type Recorder = { requests: readonly Shown[], context: CallContext, ways: (ways: CallApis) => CallApis }

function createRecorder ({ manifest }: InstalledProvider, service: ServiceName, context: CallContext): Recorder {
  const redact = createRedactor(Object.values(splitSecrets(manifest.settings, context.settings).secrets))
  const requests: Shown[] = []
  let passed = manifest.services[service]?.checkpoint !== true

  function note ({ method, url, headers, body }: Omit<Shown, 'counts'>, counts: boolean): void {
    if (requests.some((one) => one.counts)) return
    const shown = Object.entries(headers).map(([name, value]) => [name, redact.text(maskedHeader(name, value))])
    requests.push({
      method,
      url: redact.text(url),
      headers: Object.fromEntries(shown) as Record<string, string>,
      ...(body !== undefined && { body: redact.text(body) }),
      counts
    })
  }

  async function send ({ method, url, headers, body }: TransportRequest): Promise<never> {
    note({ method, url: url.href, headers, ...(body !== undefined && { body: await textOf(body) }) }, passed && method !== 'GET')
    throw new RequestFailure('not done', nothingSent)
  }

  const resources = {
    ...context.resources,
    ...(manifest.connect !== undefined && { connection: { ...madeUp, facts: context.resources.connection?.facts ?? {} } }),
    network: recording(context.resources.network, send, note, context.now),
    checkpoint: {
      save: () => {
        passed = true
        return Promise.resolve()
      }
    }
  }
  const ways = (own: CallApis): CallApis => ({ ...own, http: findingNothing(own.http), ...noted(note) })
  return { requests, context: { ...context, state: overlay(context.state), resources }, ways }
}

const nothingSent = 'Nothing is sent in a dry run.'

type Note = (request: Omit<Shown, 'counts'>, counts: boolean) => void

/** A sign-in that renews no token of the vendor's. */
const madeUp: Tokens = { token: () => Promise.resolve({ value: 'a token', cached: false }), drop: () => Promise.resolve() }

function recording (network: Network, send: Network['transport']['send'], note: Note, now: () => Date): Network {
  const accessTokens: AccessTokenCache = {
    async get (_account, oauth2, tokenUrl) {
      const { fields, headers } = await tokenRequest(oauth2, now())
      const pairs = formPairs(fields).map(([name, value]) => [name, name === 'assertion' || isCredentialField(name) ? marker : value])
      note({
        method: 'POST',
        url: tokenUrl.href,
        headers: { ...headers, accept: 'application/json', 'content-type': 'application/x-www-form-urlencoded' },
        body: String(new URLSearchParams(pairs))
      }, false)
      return { value: 'a token', cached: false }
    },
    open (_account, { json, form, basic }, url) {
      note({
        method: 'POST',
        url: url.href,
        headers: basic === undefined ? {} : { authorization: basicHeader(...basic) },
        body: json === undefined ? String(new URLSearchParams(formPairs(form ?? {}))) : JSON.stringify(json)
      }, false)
      return Promise.resolve({ value: 'a token', cached: false })
    },
    sign: (_account, jwt) => signJwt(jwt, now()),
    drop: () => undefined
  }
  return { ...network, transport: { ...network.transport, send }, accessTokens }
}

/** A search, whose answer is a list, finds nothing: what is made then is seen too. No other answer can be made up. */
function findingNothing (http: Http): Http {
  const ask = askOf(http)
  return httpOf(async (method, url, call, fits) => {
    try {
      return await ask(method, url, call, fits)
    } catch (error) {
      const found = method === 'GET' ? await emptyLists(fits) : undefined
      if (found?.ok !== true) throw error
      return found.value
    }
  }, http.download)
}

/** An object with an empty list in each place where the provider wants a value; undefined where it wants none. */
async function emptyLists<Value> (fits: FitToReply<Value>): Promise<Fit<Value> | undefined> {
  const desired = await fits({})
  return desired.ok ? undefined : await fits(Object.fromEntries(desired.problems.map(({ path }) => [path.slice(1), []])))
}

/** What is sent or written in other ways than HTTP, in the same form. */
function noted (note: Note): Pick<CallApis, 'smtp' | 'files'> {
  const end = (): never => {
    throw failureError({ word: 'provider_unavailable', message: nothingSent })
  }
  return {
    smtp: {
      async send ({ from, to, cc = [], bcc = [], subject, text, html, headers = {} }, { host, port = 587 }) {
        const envelope = { from, to: to.join(', '), cc: cc.join(', '), bcc: bcc.join(', '), subject }
        const body = text ?? html
        note({ method: 'SMTP', url: `smtp://${host}:${port}`, headers: { ...envelope, ...headers }, ...(body !== undefined && { body }) },
          true)
        return await Promise.resolve().then(end)
      },
      verify: () => Promise.resolve().then(end)
    },
    files: {
      async put (path, { size, contentType }) {
        note({ method: 'WRITE', url: path, headers: { 'content-type': contentType, 'content-length': String(size) } }, true)
        await Promise.resolve().then(end)
      }
    }
  }
}

/** What is stored in a dry run is seen in it, and nowhere else. */
function overlay (state: State): State {
  const written = new Map<string, Json | undefined>()
  const get = async (key: string): Promise<Json | undefined> => written.has(key) ? written.get(key) : await state.get(key)
  return {
    get,
    put (key, value) {
      written.set(key, value)
      return Promise.resolve()
    },
    async putIfAbsent (key, value) {
      const stands = await get(key) ?? value
      written.set(key, stands)
      return stands
    },
    delete (key) {
      written.set(key, undefined)
      return Promise.resolve()
    }
  }
}

/** The beginning of a body; what is no text in it reads as U+FFFD. */
async function textOf (body: Buffer | Readable): Promise<string> {
  let text = ''
  const decoder = new TextDecoder()
  for await (const piece of (Buffer.isBuffer(body) ? Stream.from([body]) : body) as AsyncIterable<Buffer>) {
    text += decoder.decode(piece, { stream: true })
    if (text.length > longestBody) return `${text.slice(0, longestBody)}…`
  }
  return text.replaceAll('\0', '\uFFFD')
}
