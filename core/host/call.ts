import { setTimeout as pause } from 'node:timers/promises'
import type { JsonObject } from '../contract/json.ts'
import type { ServiceName } from '../services/index.ts'
import { printable, readAnswer } from './answer.ts'
import type { Context } from './context.ts'
import type { ServiceContracts } from './contracts.ts'
import type { Accepted } from './definition.ts'
import { failureOf, providerErrors, type Failure, type ProviderErrorWord } from './failure.ts'
import type { Installed } from './load.ts'
import type { Log } from './log.ts'
import { openOutside, type Outside } from './outside.ts'
import { createProgress, type Progress } from './outcome.ts'
import { createRedactor, redactLog, type Redactor } from './redact.ts'
import { splitSecrets } from './settings.ts'

/** What the caller brings. The provider gets copies, and a log that does not write the secrets in `settings`. */
export type CallContext = Omit<Context<JsonObject, JsonObject>, 'http' | 'smtp' | 'checkpoint' | 'checkpointed' | 'wait'> & { outside: Outside }

/** `limit` is in milliseconds; the shorter of it and the provider's own time limit holds. `signal` gives the call up. */
export type CallLimits = { limit?: number, signal?: AbortSignal }

/** Why a call came to nothing. `code` is the vendor's own. */
export type CallError = { word: ProviderErrorWord, code?: string, message: string }

/** What a call came to. `unavailable`: certainly not accepted. `uncertain`: it may have been. */
export type Outcome =
  | { outcome: 'accepted', response: Accepted }
  | { outcome: typeof providerErrors[ProviderErrorWord], error: CallError }

/** Seconds; the specification's limit for a provider. */
const defaultTimeLimit = 60
const longestCode = 100
const longestMessage = 1000

/**
 * Asks a provider to dispatch. Whatever it does becomes an outcome: what is not clearly an acceptance, a refusal or a
 * failure before anything was sent is `uncertain`. Throws only when the provider has no such service.
 */
export async function callDispatch<Name extends ServiceName> (
  installed: Installed, service: Name, request: ServiceContracts[Name]['dispatch'], context: CallContext, { limit = Infinity, signal }: CallLimits = {}
): Promise<Outcome> {
  const { code, manifest, verbs } = installed
  const dispatch = verbs[service]?.dispatch
  if (dispatch === undefined) throw new TypeError(`The provider "${code}" has no service "${service}".`)
  if (signal?.aborted === true) return failed('provider_unavailable', `The provider "${code}" was not called: the call was given up before.`)

  const settled = manifest.services[service]
  const redact = createRedactor(Object.values(splitSecrets(manifest.settings, context.settings).secrets))
  const log = redactLog(context.log, redact)
  const progress = createProgress({ passed: settled?.checkpoint !== true || context.outside.checkpoint.id !== undefined })
  const time = Math.min(limit, (settled?.timeLimit ?? defaultTimeLimit) * 1000)
  try {
    const returned = await within(time, signal, async (ended) => {
      const ways = openOutside({ ...context, manifest, service, progress, ended, limit: time, log, conceal: redact.conceal })
      return await dispatch(structuredClone(request), { ...ownContext({ ...context, log }, ended), ...ways })
    })
    return answered(installed, returned, redact)
  } catch (thrown) {
    return withDoubt(thrownBy(installed, thrown, { redact, log, progress }), progress, redact)
  }
}

function ownContext ({ settings, requestSettings, outside: _, ...shared }: CallContext, ended: AbortSignal): Omit<Context<JsonObject, JsonObject>, 'http' | 'smtp' | 'checkpoint'> {
  return { ...shared, settings: structuredClone(settings), requestSettings: structuredClone(requestSettings), wait: (seconds) => wait(seconds, ended) }
}

function wait (seconds: number, ended: AbortSignal): Promise<void> {
  const waiting = pause(seconds * 1000, undefined, { signal: ended })
  // A provider may have left it behind: its end is then nobody's unhandled rejection.
  waiting.catch(() => undefined)
  return waiting
}

class Late extends Error {}

/** Runs the work until it is done, `limit` milliseconds have passed or `outer` fires; then its own signal fires. */
async function within<Result> (limit: number, outer: AbortSignal | undefined, work: (ended: AbortSignal) => Promise<Result>): Promise<Result> {
  const end = new AbortController()
  const ended = outer === undefined ? end.signal : AbortSignal.any([end.signal, outer])
  const timer = setTimeout(() => end.abort(), limit)
  const late = new Promise<never>((_resolve, reject) => ended.addEventListener('abort', () => reject(new Late()), { once: true }))
  try {
    return await Promise.race([late, work(ended)])
  } finally {
    clearTimeout(timer)
    end.abort()
  }
}

function answered ({ code }: Installed, returned: unknown, redact: Redactor): Outcome {
  const answer = readAnswer(returned)
  if (answer.ok) return { outcome: 'accepted', response: { ...redact.json(answer.value), id: answer.value.id } }
  const why = answer.problems.map(({ path, message }) => `${path} ${message}`.trim()).join(' ')
  return failed('outcome_unknown', redact.text(`The answer of the provider "${code}" cannot be read: ${why}`))
}

type Circumstances = { redact: Redactor, log: Log, progress: Progress }

function thrownBy (installed: Installed, thrown: unknown, { redact, log, progress }: Circumstances): Outcome {
  const failure = failureOf(thrown)
  if (failure !== undefined) return reported(installed, failure, redact)
  const late = thrown instanceof Late
  if (!late) log.error({ err: thrown }, 'provider failed unexpectedly')
  const what = `The provider "${installed.code}" ${late ? 'did not answer in time' : 'failed unexpectedly'}`
  return progress.passed
    ? failed('outcome_unknown', `${what}; it may have accepted the request.`)
    : failed('provider_unavailable', `${what}, before anything was accepted.`)
}

/** A provider may catch the news that a request got lost, but it cannot make a refusal of it. */
function withDoubt (outcome: Outcome, { doubt }: Progress, redact: Redactor): Outcome {
  if (doubt === undefined || outcome.outcome === 'uncertain') return outcome
  return failed('outcome_unknown', presentable(doubt.message, longestMessage, redact))
}

function reported ({ manifest: { errors: { map } } }: Installed, { word, code, message }: Failure, redact: Redactor): Outcome {
  const mapped = code !== undefined && Object.hasOwn(map, code) ? map[code] : undefined
  return failed(word ?? mapped ?? 'provider_error', presentable(message, longestMessage, redact), code === undefined ? undefined : presentable(code, longestCode, redact))
}

function failed (word: ProviderErrorWord, message: string, code?: string): Outcome {
  return { outcome: providerErrors[word], error: { word, ...(code !== undefined && { code }), message } }
}

/** A vendor's words as a client may see them. */
function presentable (text: string, longest: number, redact: Redactor): string {
  return printable(redact.text(text).slice(0, longest))
}
