import { asciiMailbox, isRecord, type Json, type JsonObject, readMailbox, textOf } from '@dispatch/common'
import { type InstalledProvider, problemsForeseen, splitSecrets } from '@dispatch/host'
import { type ProvidedName, services } from '@dispatch/services'
import { now } from '../run/clock.ts'
import type { Prepared } from '../run/prepare.ts'
import type { CallRun } from '../run/run.ts'
import type { ProviderUnderTest } from '../run/subject.ts'
import { type FixtureRequest, materialOf } from '../vendor/request.ts'
import { markOf, type Place, type Requested } from './places.ts'
import type { Part } from './spellings.ts'

/** Another value at a place of a request. */
export type Change = { place: Place, value: Json }

/** A request with other values, as the provider gets it, and the changes that a validation lets through. */
export type Trial = FixtureRequest & { requestSettings: JsonObject, changes: readonly Change[] }

/** The request of a fixture, in which values are changed. */
export type Base = { installed: InstalledProvider, prepared: Prepared, service: ProvidedName, requested: Requested }

/** A fixture of an accepted first call; undefined for any other one. */
export function baseOf (
  { installed, fixtures: { sends } }: Pick<ProviderUnderTest, 'installed' | 'fixtures'>,
  prepared: Prepared
): Base | undefined {
  const { name, call, result } = prepared
  const found = sends.find((send) => send.name === name)
  const isFirst = call.checkpointed === undefined && call.repeated === undefined && call.rest === undefined
  if (call.verb !== 'dispatch' || found === undefined || result['outcome'] !== 'accepted' || !isFirst) return undefined
  const { service, request, requestSettings = {} } = found.fixture
  return { installed, prepared, service, requested: { ...request, settings: requestSettings } }
}

/** The service, and the kind of document, letter or signature, which vendors do in ways of their own. */
export function kindOf ({ service, requested }: Base): string {
  const own = isRecord(requested[service]) ? requested[service] : {}
  return JSON.stringify([service, own['documentType'], own['mailType'], own['signatureType']])
}

/** The request without the changes that the service or the provider refuses before anything is made. What it refuses is declared. */
export async function tried (base: Base, changes: readonly Change[]): Promise<Trial> {
  const made = requestOf(base, changes)
  const refused = changes.length === 0 ? [] : await newlyRefused(base, made)
  if (refused.length === 0) return { ...made, changes }
  const left = changes.filter(({ place }) => !refused.some((path) => isNear(path, place.at)))
  // What cannot be told apart is left out as a whole.
  return await tried(base, left.length < changes.length ? left : [])
}

function requestOf ({ installed, service, requested }: Base, changes: readonly Change[]): Omit<Trial, 'changes'> {
  const { settings, ...request } = changes.reduce(changed, requested)
  const { capabilities } = installed.manifest.services[service] ?? {}
  return {
    ...materialOf(service, request, { capabilities, content: undefined }),
    requestSettings: isRecord(settings) ? settings : {}
  }
}

/** Where a request is refused. What is refused of the fixture as it is does not count. */
async function newlyRefused (base: Base, made: Omit<Trial, 'changes'>): Promise<string[]> {
  const before = refusedBefore.get(base) ?? refusedOf(base, requestOf(base, []))
  refusedBefore.set(base, before)
  const own = await before
  return (await refusedOf(base, made)).filter((path) => !own.includes(path))
}

const refusedBefore = new WeakMap<Base, Promise<string[]>>()

/** Where the service itself and the provider refuse a request. */
async function refusedOf (base: Base, made: Omit<Trial, 'changes'>): Promise<string[]> {
  const { installed, prepared: { call }, service } = base
  const { plain: settings } = splitSecrets(installed.manifest.settings, call.settings)
  const { capabilities = {} } = installed.manifest.services[service] ?? {}
  const { request, requestSettings } = made
  const own = isRecord(request[service]) ? request[service] as JsonObject : {}
  const { problems = [], expectations = [] } = services[service].check({
    fields: own,
    at: (field) => `/${service}/${field}`,
    data: isRecord(request['data']) ? request['data'] : {},
    template: {},
    provider: { code: installed.code, capabilities, settings },
    today: now().toISOString().slice(0, 10),
    otherServices: []
  })
  const foreseen = await problemsForeseen(installed, service, request, { settings, requestSettings, sandbox: call.sandbox, now: now() })
  return [...problems, ...expectations, ...foreseen].map(({ path }) => path)
}

/** Whether a problem is about a place: at it, around it, or within it. */
function isNear (path: string, place: string): boolean {
  return `${place}/`.startsWith(`${path}/`) || `${path}/`.startsWith(`${place}/`)
}

function changed (requested: Requested, { place: { at: pointer, kind }, value }: Change): Requested {
  const whole = structuredClone(requested)
  const names = pointer.split('/').slice(1)
  const last = names.pop() ?? ''
  const holder = names.reduce<Record<string, Json>>((inner, name) => {
    const next = inner[name]
    const made = isRecord(next) || Array.isArray(next) ? next as Record<string, Json> : {}
    inner[name] = made
    return made
  }, whole)
  holder[last] = kind === 'location' ? movedTo(holder[last], value) : value
  return whole
}

/** A recipient elsewhere: what the new address leaves out, it has not. */
function movedTo (own: Json | undefined, value: Json): Json {
  const { address, city, state, region, postalCode, country, ...others } = isRecord(own) ? own as JsonObject : {}
  return { ...others, ...isRecord(value) ? value : {} }
}

/** What must reach the vendor of a value, as the provider has got it: an address with its domain in ASCII, a number that is dialled. */
export function partsOf ({ place, value }: Change, { request, requestSettings }: Trial): Part[] {
  const whole = { ...request, settings: requestSettings }
  const [mark, first] = [markOf(place), markOf(place, 1)]
  const marked = textWith(whole, mark)
  const { at: pointer, kind } = place
  if (kind === 'phone') return [{ at: pointer, kind, expected: textOf(whole, pointer) ?? '' }]
  if (kind === 'day') return [{ at: pointer, kind, expected: textOf(value, '') ?? '' }]
  if (kind === 'location') return isRecord(value) ? postalParts(place, value, whole) : []
  if (marked === undefined) return []
  if (kind === 'address') return [{ at: pointer, kind, expected: asciiMailbox(marked), mark }]
  if (kind !== 'mailbox') return [{ at: pointer, kind, expected: marked, mark }]
  const { address, name } = readMailbox(marked) ?? { address: marked }
  return [
    { at: pointer, kind: 'address', expected: address, mark },
    ...name === undefined ? [] : [{ at: `the name of ${pointer}`, kind: 'text', expected: name, mark: first } as const]
  ]
}

function postalParts (place: Place, value: JsonObject, whole: JsonObject): Part[] {
  const { at: pointer } = place
  const [street, town] = [markOf(place, 1), markOf(place, 2)]
  const word = (name: string): Part[] =>
    typeof value[name] === 'string' ? [{ at: `${pointer}/${name}`, kind: 'word', expected: textOf(whole, `${pointer}/${name}`) ?? '' }] : []
  return [
    { at: `${pointer}/address`, kind: 'text', expected: textOf(value, '/address') ?? '', mark: street },
    { at: `${pointer}/city`, kind: 'text', expected: textOf(value, '/city') ?? '', mark: town },
    ...word('postalCode'),
    ...word('country')
  ]
}

/** The text of a request that has a mark. */
function textWith (value: Json, mark: string): string | undefined {
  if (typeof value === 'string') return value.includes(mark) ? value : undefined
  if (typeof value !== 'object' || value === null) return undefined
  return Object.values(value as JsonObject).map((inner) => textWith(inner, mark)).find((found) => found !== undefined)
}

/** How many requests and e-mails a dispatch makes. */
export function requestsOf ({ prepared: { call: { exchange, mail } } }: Base): number {
  return exchange.length + (mail === undefined ? 0 : 1)
}

/** Why a dispatch made less than `all` its requests, where it did. */
export function endOf (all: number, run: CallRun): string | undefined {
  const made = madeIn(run)
  if (made >= all || !('error' in run.result)) return undefined
  const { word, message } = run.result.error
  return made === 0
    ? `it is refused before anything is sent (${word}: ${message}), and a validation does not say so: say it in "limits" or "check".`
    : `it ends after ${made} of ${all} requests (${word}: ${message}).`
}

export const madeIn = ({ requests, seen }: CallRun): number => requests.length + seen.handed.length
