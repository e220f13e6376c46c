import type { Json, JsonObject } from '@dispatch/common'
import type { Manifest } from '@dispatch/host'
import { type ErrorPlace, failureOf, providerErrors, type ProviderErrorWord } from '@dispatch/vendor-io/outcome'
import { type Case, judged, skipped } from '../report.ts'
import { differs } from '../run/compare.ts'
import { allowed, conflict, type InjectedFault, injectedFaults, isSignIn, isUnsafe, type Position,
  positionOf } from '../run/fault-injection.ts'
import { inTurn } from '../run/in-turn.ts'
import type { Prepared } from '../run/prepare.ts'
import { type CallRun, traceOf, type VerbObservation } from '../run/run.ts'
import type { ProviderUnderTest } from '../run/subject.ts'
import type { VendorReply } from '../vendor/vendor.ts'

/** A fixture that ran as expected, and its run. */
export type Played = { prepared: Prepared, run: CallRun }

/** One request of one fixture, and the permitted outcomes of one attack on it. */
type Trial = {
  prepared: Prepared
  at: number
  position: Position
  passed: boolean
  attack: InjectedFault
  words: ReturnType<typeof allowed>
}

/** Attacks every request of every accepted dispatch in every way. Requests that several fixtures have in common are attacked once. */
export async function outcomeCases (subject: ProviderUnderTest, fit: readonly Played[]): Promise<Case[]> {
  const { installed: { manifest } } = subject
  const accepted = fit.filter(({ run, prepared: { call } }) => run.result.outcome === 'accepted' && call.exchange.length > 0)
  if (accepted.length === 0) return [skipped('mapped', 'the codes of errors.map', 'No accepted fixture sends a request.')]
  const points = accepted.flatMap((played) => checkpointCase(manifest, played))
  const tried = new Map(accepted.flatMap((played) => trialsOf(manifest, played)).toReversed().map((trial) => [shapeOf(trial), trial]))
  const trials = [...tried.values()].toReversed()
  const cases = await inTurn(trials, async (trial) => {
    const run = await subject.play(trial.prepared, { attack: { at: trial.at, how: trial.attack } })
    return [judged('outcome', nameOf(trial), outcomeFaults(manifest, trial, run)), ...onceCase(manifest, trial, run)]
  })
  const believed = await inTurn(accepted, (played) => believedCases(subject, played))
  const services = [...Map.groupBy(accepted, ({ prepared }) => prepared.call.service).values()].flatMap(([first]) => first ?? [])
  return [...points, ...cases.flat(), ...believed.flat(), ...(await inTurn(services, (played) => mappedCases(subject, played))).flat()]
}

/** The key of an attack: its kind, and all requests up to it. A part of a path that contains a digit counts as an id. */
function shapeOf ({ attack, at, prepared: { call: { service, exchange, checkpointed } } }: Trial): string {
  const sent = exchange.slice(0, at + 1).map(({ expect: { method, url } }) =>
    `${method} ${url.replace(/\?.*/, '').replaceAll(/[^/]*\d[^/]*/g, '*')}`
  )
  return JSON.stringify([service, checkpointed !== undefined, attack.name, sent])
}

function trialsOf ({ services, errors: { map } }: Manifest, { prepared, run }: Played): Trial[] {
  const { call: { service, exchange } } = prepared
  const { notProcessed = [], idempotency } = services[service] ?? {}
  const passedAt = passedFrom(services, prepared, run)
  return exchange.flatMap((entry, at) => {
    const position = positionOf(exchange, at, passedAt)
    const facts = {
      notProcessed: isSignIn(entry) ? [] : notProcessed,
      keyed: !isSignIn(entry) && idempotency?.kind === 'key' && !Object.hasOwn(map, String(conflict)),
      passed: at >= passedAt,
      safe: !isUnsafe(entry)
    }
    return injectedFaults.map((attack) => ({
      prepared,
      at,
      position,
      passed: facts.passed,
      attack,
      words: allowed(attack, position, facts)
    }))
  })
}

/** The index of the first request that cannot be repeated. */
export function passedFrom (
  services: Manifest['services'],
  { call: { service, exchange, checkpointed } }: Prepared,
  { saved }: CallRun
): number {
  return services[service]?.checkpoint !== true || checkpointed !== undefined ? 0 : saved.at(-1)?.after ?? exchange.length
}

/**
 * A vendor that knows an idempotency key refuses it. That is an acceptance where an earlier call may have brought the key to the vendor: at
 * a first call, nobody can have accepted anything.
 */
async function believedCases (subject: ProviderUnderTest, { prepared }: Played): Promise<Case[]> {
  const { name, call: { exchange, repeated, ...call } } = prepared
  const { status = 200 } = exchange.findLast(isUnsafe)?.answer ?? {}
  if (status < 400) return []
  const run = repeated === true ? await subject.play({ ...prepared, call: { ...call, exchange } }) : undefined
  return [
    judged('outcome', `${name}: answered ${status} at the first call`, run === undefined || run.result.outcome === 'accepted'
      ? ['It is called accepted. Only where context.repeated is true can a refusal mean that the vendor has accepted an earlier call.']
      : [])
  ]
}

function checkpointCase ({ services }: Manifest, { prepared, run }: Played): Case[] {
  const { name, call: { service, exchange } } = prepared
  if (services[service]?.checkpoint !== true) return []
  const from = passedFrom(services, prepared, run)
  return [
    judged('checkpoint', name, exchange.slice(from).some(isUnsafe)
      ? []
      : ['Nothing that changes something is sent after checkpoint(id): call it before the request that makes the dispatch real.'])
  ]
}

function nameOf ({ prepared: { name, call: { exchange } }, at, attack, position }: Trial): string {
  const { method = '', url = '' } = exchange[at]?.expect ?? {}
  const where = { before: 'before the point of no return', at: 'at the point of no return', after: 'after the point of no return' }
  return `${name}: request ${at + 1} of ${exchange.length} (${method} ${URL.parse(url)?.pathname ?? url}, ${
    where[position]
  }) ${attack.name}`
}

function outcomeFaults (manifest: Manifest, { prepared, attack, words }: Trial, { result, seen }: CallRun): string[] {
  if (result.outcome === 'answered') return []
  if (result.outcome === 'accepted') {
    return words.includes('accepted') && differs('response', prepared.result['response'], result.response).length === 0
      ? []
      : [`It is called accepted; ${expectedOf(words)}.`]
  }
  const { word, message } = result.error
  const wrong = words.includes(result.outcome)
    ? []
    : [`It is called ${result.outcome} (${word}: ${message}); ${expectedOf(words)}.${traceOf(seen)}`]
  const signIn = attack.status === 401 && result.outcome === 'rejected' && word !== 'authentication_error'
    ? [`A 401 is an authentication_error, not ${word}.`]
    : []
  return [...wrong, ...signIn, ...wrong.length > 0 || 'silent' in attack ? [] : ownFaults(manifest, words, seen)]
}

/** The host remembers a doubt, whatever a provider reports. The provider must not rely on that. */
export function ownFaults (
  { errors: { map } }: Manifest,
  words: Trial['words'],
  { thrown, trace }: Pick<VerbObservation, 'thrown' | 'trace'>
): string[] {
  const failure = failureOf(thrown)
  if (failure === undefined) {
    return [`The provider throws what is no failure: ${trace ?? String(thrown)}\nLet the host's error pass, or throw refused(), ` +
      'unavailable() or outcomeUnknown().']
  }
  const { word = failure.code !== undefined && Object.hasOwn(map, failure.code) ? map[failure.code] : undefined } = failure
  const outcome = providerErrors[word ?? 'provider_error']
  return words.includes(outcome)
    ? []
    : [`The provider makes ${outcome} of it (${failure.message}); ${expectedOf(words)}. The host put that right.`]
}

function expectedOf (words: Trial['words']): string {
  return `it must be ${words.join(' or ')}${words.includes('accepted') ? ' (accepted only with the answer of the fixture)' : ''}`
}

/** A request with an unknown outcome must be sent once only, or each time under the same key. */
function onceCase ({ services }: Manifest, trial: Trial, { requests }: CallRun): Case[] {
  const { prepared: { call: { service, exchange } }, at, position, attack } = trial
  if (position === 'before' || attack.means !== 'uncertain' || !isUnsafe(exchange[at])) return []
  const times = requests.filter(({ index }) => index === at).length
  const keyed = services[service]?.idempotency.kind === 'key'
  return [judged('once', nameOf(trial), times > 1 && !keyed ? [`It was sent ${times} times.`] : [])]
}

/** Tries every code of the map, at its place in an answer to the last request. */
async function mappedCases (subject: ProviderUnderTest, { prepared }: Played): Promise<Case[]> {
  const { manifest: { errors: { at, map } } } = subject.installed
  const codes = Object.entries(map)
  if (codes.length === 0) return [skipped('mapped', 'the codes of errors.map', 'The map is empty.')]
  if (at === undefined) return [skipped('mapped', 'the codes of errors.map', 'There is no errors.at: write a fixture of each error.')]
  const { name, call: { exchange } } = prepared
  const first = exchange.findIndex((entry) => !isSignIn(entry))
  const [place = ''] = [at].flat()
  const inXml = exchange[first]?.answer.xml !== undefined
  const answers = codes.flatMap(([code, word]) => statusesOf(word).map((status) => ({ code, word, status })))
  return await inTurn(answers, async ({ code, word, status }) => {
    const { result } = await subject.play(prepared, {
      attack: {
        at: first,
        how: {
          name: code,
          means: status === 429 ? 'not done' : 'refused',
          status,
          script: { status, ...answerWith(place, code, { inXml }) }
        }
      }
    })
    const reported = 'error' in result ? result.error.word : result.outcome
    return judged('mapped', `${name}: answered ${status} with ${typeof place === 'string' ? place : place.header} ${code}`,
      reported === word ? [] : [`It is called ${reported}; errors.map says ${word}.`])
  })
}

/** The statuses with which a vendor may tell a word. */
function statusesOf (word: ProviderErrorWord): number[] {
  if (word === 'recipient_unavailable') return [400, 429]
  return [word === 'authentication_error' ? 401 : 400]
}

/** An answer with a code in its place. */
function answerWith (place: ErrorPlace, code: string, { inXml }: { inXml: boolean }): VendorReply {
  if (typeof place !== 'string') return { headers: { [place.header]: code } }
  return inXml ? { xml: bodyAt(place, code) } : { json: bodyAt(place, code) }
}

/** An answer with a value at a JSON pointer. */
function bodyAt (pointer: string, value: string): JsonObject {
  const body = pointer.split('/').slice(1).reduceRight<Json>((inner, token) => /^\d+$/.test(token) ? [inner] : { [token]: inner }, value)
  return body as JsonObject
}
