import { type JsonObject, type Log, withDeadline } from '@dispatch/common'
import type { ServiceName } from '@dispatch/services'
import { createNotebook, createOwnDocuments, createRedactor, type Exchange, type Http, redactLog, type Redactor } from '@dispatch/vendor-io'
import { type CallProgress, createProgress, type Failure, failureOf, providerErrors,
  type ProviderErrorWord } from '@dispatch/vendor-io/outcome'
import { setTimeout as pause } from 'node:timers/promises'
import { AdapterEnded } from '../contain/adapter-ended.ts'
import { printable } from '../contain/plain-json.ts'
import { runAs } from '../contain/stray-errors.ts'
import type { InstalledProvider } from '../load/load.ts'
import type { Context, TakeBack } from '../manifest/context.ts'
import { sandboxFaults } from '../manifest/sandbox.ts'
import type { Verb, VerbName } from '../manifest/verbs.ts'
import { splitSecrets } from '../settings/settings.ts'
import { type CallApis, type CallResources, createCallApis, type VerbCall } from './call-resources.ts'
import { stateOf } from './state.ts'

/**
 * What the caller provides. `noted` is told at the end what was asked of the vendor. The provider gets copies, and a log that hides the
 * secrets of `settings`, and those of the request.
 */
export type CallContext =
  & Omit<
    Context<JsonObject, JsonObject>,
    'http' | 'smtp' | 'documents' | 'files' | 'checkpoint' | 'checkpointed' | 'facts' | 'onRefusal' | 'wait'
  >
  & { resources: CallResources, secrets?: readonly string[], noted?: (exchanges: readonly Exchange[]) => void }

/** `limit` is in milliseconds. The shorter one of `limit` and the provider's own time limit applies. `signal` aborts the call. */
export type CallLimits = { limit?: number, signal?: AbortSignal }

/**
 * Why a call failed. `code` is the vendor's own. `host` was asked last. `retryAfter`: seconds that the vendor asks to wait. `ours`: the
 * fault is in this service and not at the vendor.
 */
export type CallError = { word: ProviderErrorWord, code?: string, message: string, host?: string, retryAfter?: number, ours?: true }

/** A failed call. `unavailable`: certainly not accepted. `uncertain`: perhaps accepted. */
export type FailedCall = { outcome: typeof providerErrors[ProviderErrorWord], error: CallError }

/** The unchecked value that a verb returned, and the redactor for the secrets of the call. `unsent`: nothing has left the service. */
export type Returned = { returned: unknown, redact: Redactor, unsent: boolean }

/** The default time limit of a provider in seconds, from the specification. */
export const usualTimeLimit = 60
const longestCode = 100
const longestMessage = 1000

/** Verbs that change something at the vendor. All other verbs may be called again at any time. */
const unsafeVerbs: ReadonlySet<VerbName> = new Set(['dispatch', 'cancel', 'say', 'subscribe', 'unsubscribe'])

/**
 * Calls one verb of a provider within its time limit. The provider gets copies, and its own functions for requests. Whatever it throws
 * becomes a failed call. Throws only when the provider does not have the verb.
 */
export async function invoke (
  installed: InstalledProvider,
  service: ServiceName,
  verb: VerbName,
  request: unknown,
  context: CallContext,
  limits?: CallLimits
): Promise<Returned | FailedCall> {
  const { code, manifest, verbs } = installed
  const run = verbs[service]?.[verb]
  if (run === undefined) {
    throw new TypeError(verb === 'dispatch'
      ? `The provider "${code}" has no service "${service}".`
      : `The provider "${code}" has no verb "${verb}" for the service "${service}".`)
  }
  const { checkpoint, timeLimit } = manifest.services[service] ?? {}
  const prepares = verb === 'dispatch' && checkpoint === true && context.resources.checkpoint.id === undefined
  const called: Called = { run, service, passed: unsafeVerbs.has(verb) && !prepares, ...(timeLimit !== undefined && { timeLimit }) }
  return await invokeFunction(installed, called, request, context, limits)
}

/**
 * A function of a provider. `passed`: its first request is already after the point of no return. `timeLimit` is in seconds. `ways` changes
 * its functions for requests.
 */
type Called = { run: Verb, service?: ServiceName, passed: boolean, timeLimit?: number, ways?: (ways: CallApis) => CallApis }

/** Calls a function of a provider in the same way as a verb. */
export async function invokeFunction (
  installed: InstalledProvider,
  { run, service, passed, timeLimit = usualTimeLimit, ways: limited = (ways) => ways }: Called,
  request: unknown,
  context: CallContext,
  { limit = Infinity, signal }: CallLimits = {}
): Promise<Returned | FailedCall> {
  const { code, manifest } = installed
  if (signal?.aborted === true) {
    return failedCall('provider_unavailable', `The provider "${code}" was not called, because the call had already been aborted.`, {
      ours: true
    })
  }

  const [misplaced] = sandboxFaults(manifest, context.settings, context.sandbox)
  if (misplaced !== undefined) {
    return failedCall('provider_error', `${misplaced.message} Nothing was sent.`, { code: misplaced.code, ours: true })
  }

  const redact = createRedactor([
    ...Object.values(splitSecrets(manifest.settings, context.settings).secrets),
    ...context.secrets ?? []
  ])
  const log = redactLog(context.log, redact)
  const progress = createProgress({ passed })
  const state = stateOf(context.state, { progress, log })
  const time = Math.min(limit, timeLimit * 1000)
  const made: TakeBack[] = []
  const own = createOwnDocuments(request)
  const notebook = context.noted === undefined ? undefined : createNotebook()
  const open = (call: Pick<VerbCall, 'progress' | 'ended' | 'limit'>): CallApis =>
    createCallApis({
      ...context,
      ...call,
      manifest,
      service,
      own,
      log,
      redact,
      ...(notebook !== undefined && { notebook })
    })
  try {
    const returned = await withDeadline(time, async (ended) => {
      const ways = {
        ...limited(open({ progress, ended, limit: time })),
        onRefusal: (takeBack: TakeBack) => {
          made.push(takeBack)
        }
      }
      const caller = { account: context.resources.account, ended }
      return await runAs({ provider: code, log, onLeaving: () => progress.leaving() }, () =>
        run(copyOf(request), { ...ownContext({ ...context, log, state }, ended), ...ways }, caller))
    }, over, signal)
    return { returned, redact, unsent: !progress.hasLeft }
  } catch (thrown) {
    const failed = withHost(withUncertain(thrownBy(installed, thrown, { redact, log, progress }), progress, redact), progress)
    if (failed.outcome === 'rejected' && made.length > 0) {
      await takeAllBack(made, log, (ended) => open({ progress: createProgress({ passed: false }), ended, limit: takingBack }).http)
    }
    return failed
  } finally {
    if (notebook !== undefined) noteSafely(() => context.noted?.(notebook.read(redact)), log)
  }
}

/** What was noted never decides what became of a call. */
function noteSafely (note: () => void, log: Log): void {
  try {
    note()
  } catch (error) {
    log.warn({ err: error }, 'what a call has asked of its vendor could not be noted')
  }
}

/** The time in milliseconds to undo everything that a refused call has made: a client may be waiting. */
const takingBack = 10_000

/** Undoes what a refused call has made, the last thing first. The log tells what is left at the vendor. */
async function takeAllBack (made: readonly TakeBack[], log: Log, httpOf: (ended: AbortSignal) => Http): Promise<void> {
  const left = (error: unknown): void => log.warn({ err: error }, 'what was made for a refused request is left at the vendor')
  await withDeadline(takingBack, async (ended) => {
    const http = httpOf(ended)
    for (const takeBack of made.toReversed()) await takeBack(http).catch(left)
  }, over).catch(left)
}

/** The failed call where what a provider returned cannot be used: it is uncertain, unless nothing has left the service. */
export function unusable ({ unsent }: Pick<Returned, 'unsent'>, message: string): FailedCall {
  return unsent
    ? failedCall('provider_unavailable', `${message} Nothing was sent.`, { ours: true })
    : failedCall('outcome_unknown', message, { ours: true })
}

/** The failed call for an error word. */
export function failedCall (word: ProviderErrorWord, message: string, more: Omit<CallError, 'word' | 'message'> = {}): FailedCall {
  return { outcome: providerErrors[word], error: { word, ...more, message } }
}

/** What the provider gets. The fields are listed one by one, so that nothing else reaches it. */
function ownContext (
  { settings, requestSettings, sandbox, reference, idempotencyKey, repeated, rest, webhookUrl, log, state, now, resources }: CallContext,
  ended: AbortSignal
): Omit<Context<JsonObject, JsonObject>, 'http' | 'smtp' | 'documents' | 'files' | 'checkpoint' | 'onRefusal'> {
  const copies = {
    settings: copyOf(settings),
    requestSettings: copyOf(requestSettings),
    facts: copyOf(resources.connection?.facts ?? {}),
    ...(repeated === undefined ? {} : { repeated }),
    ...(rest === undefined ? {} : { rest: copyOf(rest) }),
    ...(webhookUrl === undefined ? {} : { webhookUrl })
  }
  return { ...copies, sandbox, reference, idempotencyKey, log, state, now, wait: (seconds) => wait(seconds, ended) }
}

/** A copy of plain data: a provider may change what it gets. */
function copyOf<Value> (value: Value): Value
function copyOf (value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map((item: unknown) => copyOf(item))
  return Object.fromEntries(Object.entries(value).map(([key, field]) => [key, copyOf(field)]))
}

function wait (seconds: number, ended: AbortSignal): Promise<void> {
  const waiting = pause(seconds * 1000, undefined, { signal: ended })
  // A provider may not have awaited this promise. Its rejection must then not count as unhandled.
  waiting.catch(() => undefined)
  return waiting
}

/**
 * The reason for which the signal of a call fires. It is one shared object, because an AbortError with its stack costs as much as a
 * request.
 */
const over = Object.assign(new Error('The call is over.'), { code: 'ABORT_ERR' })

type Circumstances = { redact: Redactor, log: Log, progress: CallProgress }

function thrownBy (installed: InstalledProvider, thrown: unknown, { redact, log, progress }: Circumstances): FailedCall {
  const failure = failureOf(thrown)
  if (failure !== undefined) return reported(installed, failure, redact)
  const late = thrown === over
  if (!late) log.error({ err: thrown }, 'provider failed unexpectedly')
  const what = `The provider "${installed.code}" ${late ? 'did not answer in time' : 'failed unexpectedly'}`
  const [word, then] = verdictOf(progress)
  // An adapter that ends its process is as good as a vendor that is not there.
  return failedCall(word, `${what}${then}`, late || thrown instanceof AdapterEnded ? {} : { ours: true })
}

/** What an error says of a call that is none of the vendor's. What has not left the service, nobody can have accepted. */
function verdictOf ({ hasLeft, passed }: CallProgress): [word: ProviderErrorWord, then: string] {
  if (!hasLeft) return ['provider_unavailable', ', before anything was sent.']
  return passed
    ? ['outcome_unknown', '; it may have accepted the request.']
    : ['provider_unavailable', ', before anything was accepted.']
}

/** A provider may catch the error that a request got lost. It cannot turn this error into a refusal. */
function withUncertain (call: FailedCall, { uncertain }: CallProgress, redact: Redactor): FailedCall {
  return uncertain === undefined || call.outcome === 'uncertain'
    ? call
    : failedCall('outcome_unknown', presentable(uncertain.message, longestMessage, redact))
}

function withHost ({ outcome, error }: FailedCall, { requestedHost: host }: CallProgress): FailedCall {
  return { outcome, error: { ...error, ...(host !== undefined && { host }) } }
}

function reported (
  { manifest: { errors: { map } } }: InstalledProvider,
  { word, code, message, retryAfter, ours }: Failure,
  redact: Redactor
): FailedCall {
  const mapped = code !== undefined && Object.hasOwn(map, code) ? map[code] : undefined
  return failedCall(word ?? mapped ?? 'provider_error', presentable(message, longestMessage, redact), {
    ...(code !== undefined && { code: presentable(code, longestCode, redact) }),
    ...(retryAfter !== undefined && { retryAfter }),
    ...(ours === true && { ours })
  })
}

/** The vendor's message as clients may see it. */
function presentable (text: string, longest: number, redact: Redactor): string {
  return printable(redact.text(text).slice(0, longest))
}
