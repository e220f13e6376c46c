import { isRecord, type Json, type JsonObject, vocabularies } from '@dispatch/common'
import { carriedIn, type Manifest } from '@dispatch/host'
import type { ProvidedName } from '@dispatch/services'
import { type Case, judged, skipped } from '../report.ts'
import { inTurn } from '../run/in-turn.ts'
import type { Prepared } from '../run/prepare.ts'
import type { ProviderUnderTest } from '../run/subject.ts'
import { sentTexts } from './idempotency.ts'

/**
 * What a provider says that its vendor's document carries, tried on an accepted dispatch of each document type: a change of a carried field
 * changes what the vendor gets, or is refused; all other fields of an invoice together change nothing.
 */
export async function carriedCases (subject: ProviderUnderTest, fit: readonly Prepared[]): Promise<Case[]> {
  const { services } = subject.installed.manifest
  const cases = await inTurn(Object.entries(services), async ([service, { carries, capabilities }]) => {
    if (carries === undefined) {
      return 'document' in capabilities
        ? [
          skipped('carried', service,
            'The provider makes the document itself, and declares no "carries": nobody is told what it leaves out.')
        ]
        : []
    }
    const usable = fit.filter(({ call, result }) =>
      call.service === service && call.verb === 'dispatch' && call.checkpointed === undefined && call.repeated === undefined &&
      result['outcome'] === 'accepted'
    )
    return await triedCases(subject, usable, carries)
  })
  return cases.flat()
}

type Carries = NonNullable<NonNullable<Manifest['services'][ProvidedName]>['carries']>

async function triedCases (subject: ProviderUnderTest, usable: readonly Prepared[], carries: Carries): Promise<Case[]> {
  const trials = await inTurn(usable, async (prepared) => {
    const requested = askedOf(prepared)
    const before = await sentWith(subject, prepared, requested)
    return {
      name: prepared.name,
      declared: carriedIn(carries, requested),
      isChanged: async (changed: readonly string[]): Promise<boolean> =>
        await sentWith(subject, prepared, changed.reduce((whole, place) => withSample(whole, place), requested)) !== before
    }
  })
  // What a field changes may show in some dispatches alone, such as in one with an allowance.
  const proven = async (place: string): Promise<boolean> => {
    const able = trials.filter(({ declared }) => declared.some(({ at, made }) => at === place && !made))
    for (const { isChanged } of able) if (await isChanged([place])) return true
    return able.length === 0
  }
  const idle = await inTurn(carries.filter(({ made }) => made !== true).flatMap(({ at }) => at),
    async (place) => await proven(place) ? [] : [place])
  const shapes = Map.groupBy(trials, ({ declared }) => JSON.stringify(declared))
  const others = await inTurn([...shapes.values()].flatMap(([first]) => first ?? []), async ({ name, declared, isChanged }) => {
    const left = places.filter((place) => !declared.some(({ at }) => `${place}/`.startsWith(`${at}/`) || `${at}/`.startsWith(`${place}/`)))
    const found = await isChanged(left) ? await culprit(left, isChanged) : undefined
    return judged('carried', `${name}: what is not declared`,
      found === undefined ? [] : [`A change of ${found} changes what the vendor gets, or is refused: name it in "carries".`])
  })
  return [
    judged('carried', 'what is declared',
      [...new Set(idle.flat())].map((place) => `A change of ${place} changes nothing that the vendor gets: it is not carried.`)),
    ...others
  ]
}

/** One of the places whose change makes the difference. */
async function culprit (among: readonly string[], isChanged: (places: readonly string[]) => Promise<boolean>): Promise<string | undefined> {
  if (among.length <= 1) return among[0]
  const half = among.slice(0, Math.ceil(among.length / 2))
  return await culprit(await isChanged(half) ? half : among.slice(half.length), isChanged)
}

function askedOf ({ call }: Prepared): JsonObject {
  return call.verb === 'dispatch' ? call.request : {}
}

/** All that the vendor gets of a request, and what comes of it. */
async function sentWith (subject: ProviderUnderTest, prepared: Prepared, request: JsonObject): Promise<string> {
  const { call } = prepared
  if (call.verb !== 'dispatch') return ''
  const run = await subject.play({ ...prepared, call: { ...call, request } })
  return [...sentTexts(run), JSON.stringify(run.result)].join('\n')
}

/** The request with another value at a place; of lists, in the first item. */
function withSample (request: JsonObject, place: string): JsonObject {
  const changed = structuredClone(request)
  const names = place.split('/').slice(1).map((name) => name === '*' ? '0' : name)
  const last = names.pop() ?? ''
  let holder: Record<string, Json> = changed
  for (const [index, name] of names.entries()) {
    const next = holder[name]
    const made: Json = isRecord(next) || Array.isArray(next) ? next : [...names.slice(index + 1), last][0] === '0' ? [] : {}
    holder[name] = made
    holder = made as Record<string, Json>
  }
  holder[last] = sampleOf(last, holder[last])
  return changed
}

/** Values of fields that mean something to programs. */
const samples: Readonly<Record<string, Json>> = {
  email: 'zoe@example.com',
  country: 'BE',
  currency: 'USD',
  language: 'fr',
  pricesIncludeTax: true,
  allowances: [{ amount: '0.01', reason: 'Kit' }],
  charges: [{ amount: '0.01', reason: 'Kit' }],
  ...Object.fromEntries(['date', 'dueDate', 'taxPointDate', 'start', 'end'].map((name) => [name, '2027-06-05'])),
  ...Object.fromEntries(
    ['quantity', 'unitPrice', 'priceQuantity', 'total', 'prepaidAmount', 'roundingAmount', 'amountDue', 'subtotal', 'taxAmount', 'taxRate']
      .map((name) => [name, 7])
  )
}

/** A value that the field has not now. */
function sampleOf (name: string, now: Json | undefined): Json {
  const sample = Object.hasOwn(samples, name) ? samples[name] ?? null : 'Kit'
  if (JSON.stringify(sample) !== JSON.stringify(now)) return sample
  return typeof sample === 'number' ? sample + 1 : 'Kit 2'
}

/** The most levels below the data, which no field of an invoice is beyond. */
const deepest = 4

function fieldsOf (reference: string, at: string, depth: number): string[] {
  const [id = '', path = ''] = reference.split('#')
  const root = vocabularies.find(({ $id }) => $id === id || id === '')
  const schema = path.split('/').slice(1).reduce<unknown>((value, name) => isRecord(value) ? value[name] : undefined, root)
  return below(schema, at, depth)
}

function below (schema: unknown, at: string, depth: number): string[] {
  if (!isRecord(schema) || depth > deepest) return []
  const { $ref: reference, properties, items } = schema
  if (typeof reference === 'string') return fieldsOf(reference, at, depth)
  if (isRecord(items)) return below(items, `${at}/*`, depth + 1)
  if (!isRecord(properties)) return [at]
  return Object.entries(properties).flatMap(([name, field]) => below(field, `${at}/${name}`, depth + 1))
}

/** The texts, numbers and days of an invoice, as pointers in which `*` stands for the items of a list. */
const places: readonly string[] = fieldsOf('dispatch:invoice', '/data', 0)
