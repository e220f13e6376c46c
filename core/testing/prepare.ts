import type { JsonObject } from '../contract/json.ts'
import type { Installed } from '../host/load.ts'
import { checkSettings } from '../host/settings.ts'
import type { VerbName } from '../host/verbs.ts'
import { canariesOf, shortestCanary, withCanaries, type Canaries } from './canary.ts'
import { fill, type Filling } from './compare.ts'
import type { Event, Question, Send } from './fixture.ts'
import type { Named } from './fixtures.ts'
import { materialOf } from './request.ts'
import type { Call } from './run.ts'
import { now } from './stage.ts'

/** Whose call it is and which attempt. `seed` chooses the secrets; `content` replaces the documents'. */
export type Attempt = { seed?: number, reference?: string, idempotencyKey?: string, content?: Buffer }

/** A fixture that is ready to be played: with other secrets than are written there, everything filled in. */
export type Prepared = { name: string, call: Call, filling: Filling, result: JsonObject, canaries: Canaries }

export const references = ['01960000-0000-7000-8000-00000000aaaa', '01960000-0000-7000-8000-00000000bbbb'] as const
export const keys = ['01960000-0000-7000-8000-00000000cccc', '01960000-0000-7000-8000-00000000dddd'] as const

/** Throws an Error that says what in the fixture does not fit the provider. */
export function prepareSend (installed: Installed, { name, fixture }: Named<Send>, attempt: Attempt = {}): Prepared {
  const { request, documents } = materialOf(fixture.service, fixture.request, attempt.content)
  return prepare(installed, name, fixture, attempt, { request, documents }, (filled) => ({ ...filled, verb: 'dispatch', request, documents }))
}

/** Throws an Error that says what in the fixture does not fit the provider. */
export function prepareQuestion (installed: Installed, { name, fixture }: Named<Question & { verb: Exclude<VerbName, 'dispatch'> }>, attempt: Attempt = {}): Prepared {
  const documents = new Map<string, Buffer>()
  const { verb, query = {} } = fixture
  return prepare(installed, name, fixture, attempt, { request: query, documents }, (filled) => ({
    ...filled, verb, documents, query: verb === 'lookup' ? { reference: filled.reference, ...query } : query
  }))
}

type Shared = Omit<Call, 'verb' | 'request' | 'query' | 'documents'>

function prepare (
  { manifest }: Installed, name: string, fixture: Send | Question, { seed = 1, reference = references[0], idempotencyKey = keys[0] }: Attempt,
  material: Pick<Filling, 'request' | 'documents'>, callOf: (shared: Shared) => Call
): Prepared {
  const { service, settings, requestSettings = {}, sandbox = false, checkpointed, rest, exchange = [], mail, result } = fixture
  if (manifest.services[service] === undefined) throw new Error(`The provider does not offer "${service}".`)
  const canaries = canariesIn({ manifest }, settings, seed)
  const problems = [...checkSettings(manifest.settings, settings, { base: '/settings' }), ...checkSettings(manifest.requestSettings, requestSettings, { base: '/requestSettings' })]
  if (problems.length > 0) throw new Error(problems.map(({ path, message }) => `${path} ${message}`).join(' '))
  const filling: Filling = { reference, idempotencyKey, now: now().toISOString(), ...material }
  const filled = fill(withCanaries({ exchange, result, ...(mail !== undefined && { mail }) }, canaries), filling)
  const shared = { service, settings: withCanaries(settings, canaries), requestSettings, sandbox, reference, idempotencyKey, exchange: filled.exchange, ...(filled.mail !== undefined && { mail: filled.mail }), ...(checkpointed !== undefined && { checkpointed }), ...(rest !== undefined && { rest }) }
  return { name, call: callOf(shared), filling, canaries, result: filled.result }
}

/** The settings of an event's fixture, with other secrets. */
export function prepareSettings (installed: Pick<Installed, 'manifest'>, { settings }: Event, seed: number): JsonObject {
  return withCanaries(settings, canariesIn(installed, settings, seed))
}

function canariesIn ({ manifest }: Pick<Installed, 'manifest'>, settings: JsonObject, seed: number): Canaries {
  const canaries = canariesOf(manifest.settings, settings, seed)
  const short = canaries.filter(({ was }) => was.length < shortestCanary)
  if (short.length > 0) throw new Error(`Give the secrets of a fixture at least ${shortestCanary} characters, or they could be found anywhere: ${short.map(({ field }) => field).join(', ')}.`)
  return canaries
}
