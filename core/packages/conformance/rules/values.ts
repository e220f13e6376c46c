import { services } from '@dispatch/services'
import { type Case, judged, skipped } from '../report.ts'
import { inTurn } from '../run/in-turn.ts'
import type { Prepared } from '../run/prepare.ts'
import type { CallRun } from '../run/run.ts'
import { patientVendor } from '../run/scripted-vendor.ts'
import type { ProviderUnderTest } from '../run/subject.ts'
import { errorWithStack } from '../run/trace.ts'
import { amountsOf, type Priced, priced, pricedAs } from '../values/invoices.ts'
import { type Leaf, leavesOf } from '../values/leaves.ts'
import { type Place, placesOf, valuesOf } from '../values/places.ts'
import { damageOf, judge, type Part, type Spelled, spelledIn } from '../values/spellings.ts'
import { type Base, baseOf, type Change, endOf, kindOf, madeIn, partsOf, requestsOf, type Trial, tried } from '../values/trial.ts'

/**
 * Puts awkward values into accepted dispatches, and looks for them in what the vendor gets: a value that reaches it as a plain one must
 * reach it unharmed, unless a validation refuses it. A vendor inside this process answers as the fixture says, so that a dispatch takes
 * milliseconds.
 */
export async function valueCases (subject: ProviderUnderTest, fit: readonly Prepared[]): Promise<Case[]> {
  const known = new Set<string>()
  const trials = fit.flatMap((prepared) => {
    const base = baseOf(subject, prepared)
    if (base === undefined) return []
    const { manifest } = subject.installed
    const places = placesOf(base.service, base.requested, manifest.requestSettings)
    // Another dispatch of the same shape would say the same.
    const shape = places.map(({ at }) => `${kindOf(base)}${at.replaceAll(/\d+/g, '*')}`)
    if (shape.every((one) => known.has(one))) return []
    for (const one of shape) known.add(one)
    return [{ base, places }]
  })
  const cases = await inTurn(trials, async ({ base, places }) => ({ service: base.service, found: await caseOf(subject, base, places) }))
  const silent = Object.keys(subject.installed.manifest.services).filter((service) =>
    cases.every((one) => one.service !== service || one.found === undefined)
  )
  return [
    ...cases.flatMap(({ found }) => found ?? []),
    ...silent.map((service) => skipped('values', service, 'No accepted dispatch tells a vendor a value of its request.'))
  ]
}

async function caseOf (subject: ProviderUnderTest, base: Base, places: readonly Place[]): Promise<Case | undefined> {
  const { name } = base.prepared
  try {
    const texts = await textFaults(subject, base, places)
    const amounts = await amountFaults(subject, base)
    const used = texts.used + amounts.used
    return used === 0 ? undefined : judged('values', `${name}: ${used} values that are awkward`, [...texts.faults, ...amounts.faults])
  } catch (error) {
    return judged('values', name, [`It throws ${errorWithStack(error, subject.installed.folder)}`])
  }
}

type Findings = { used: number, faults: string[] }

/** A run with what reached the vendor in it. */
type Played = { run: CallRun, leaves: readonly Leaf[] }

async function textFaults (subject: ProviderUnderTest, base: Base, places: readonly Place[]): Promise<Findings> {
  const usable = await usableOf(subject, base, places.map((place) => ({ place, values: valuesOf(place) })))
  const first = await tried(base, rowOf(usable, 0))
  const { leaves: plain } = await play(subject, base, first)
  const spelled = spellingsOf(first.changes.flatMap((change) => partsOf(change, first)), plain)
  if (spelled.size === 0) return { used: 0, faults: [] }
  const longest = Math.max(0, ...usable.map(({ values }) => values.length))
  const faults = await inTurn(Array.from({ length: longest }, (_, index) => rowOf(usable, index)), async (changes) => {
    // The other places have their plain value, so that each dispatch is of one shape.
    const others = rowOf(usable, 0).filter(({ place }) => !changes.some((change) => change.place === place))
    const trial = await tried(base, [...changes, ...others])
    const { run, leaves } = await play(subject, base, trial)
    const early = endOf(requestsOf(base), run)
    if (early === undefined) return faultsOf(trial, leaves, { spelled, plain })
    const ending = await endings(subject, base, changes)
    return ending.length === 0
      ? [`With several awkward values, ${early}`]
      : ending.map(({ change, why }) => `${change.place.at}: with ${shown(change.value)}, ${why}`)
  })
  return { used: spelled.size, faults: [...new Set(faults.flat())] }
}

/** A place with its values. */
type Row = { place: Place, values: ReturnType<typeof valuesOf> }

/** Each place with its value of a number, where it has one. */
function rowOf (rows: readonly Row[], index: number): Change[] {
  return rows.flatMap(({ place, values }) => values[index] === undefined ? [] : [{ place, value: values[index] }])
}

/** The places whose plain value leads to the requests of the fixture. At others it means something, such as an id of the vendor's. */
async function usableOf (subject: ProviderUnderTest, base: Base, rows: readonly Row[]): Promise<readonly Row[]> {
  const { run } = await play(subject, base, await tried(base, rowOf(rows, 0)))
  if (endOf(requestsOf(base), run) === undefined) return rows
  const ending = await endings(subject, base, rowOf(rows, 0))
  return rows.filter(({ place }) => !ending.some(({ change }) => change.place === place))
}

/** The changes that end a dispatch early, each with how it ends. */
async function endings (subject: ProviderUnderTest, base: Base, changes: readonly Change[]): Promise<{ change: Change, why: string }[]> {
  const found = await inTurn(changes, async (change) => {
    const why = endOf(requestsOf(base), (await play(subject, base, await tried(base, [change]))).run)
    return why === undefined ? [] : [{ change, why }]
  })
  return found.flat()
}

type Spellings = ReadonlyMap<string, Spelled>

/** How plain values reached the vendor, by their place; those that did not are left out. */
function spellingsOf (parts: readonly Part[], leaves: readonly Leaf[]): Spellings {
  const found = new Map(parts.map((part) => [part, spelledIn(part, leaves)] as const).filter(([, { ways }]) => ways.length > 0))
  const paths = new Set([...found.keys()].map(({ at }) => at))
  // A postal code and a country may be anybody's: they are the recipient's where the vendor gets the city.
  const isOwn = ({ kind, at }: Part): boolean => kind !== 'word' || paths.has(at.replace(/[^/]*$/, 'city'))
  return new Map([...found].filter(([part]) => isOwn(part)).map(([{ at }, one]) => [at, one]))
}

async function amountFaults (subject: ProviderUnderTest, base: Base): Promise<Findings> {
  const [first, ...others] = priced
  const plain = await pricedTrial(subject, base, first)
  const spelled = plain === undefined ? new Map<string, Spelled>() : spellingsOf(plain.parts, plain.leaves)
  if (plain === undefined || spelled.size === 0) return { used: 0, faults: [] }
  const faults = await inTurn(others, async (one) => {
    const trial = await pricedTrial(subject, base, one)
    if (trial === undefined) return []
    const early = endOf(madeIn(plain.run), trial.run)
    return early === undefined
      ? trial.parts.flatMap((part) => partFaults(part, spelled, trial.leaves, ` ${one.currency}`))
      : [`/data: with a price of ${shown(one.price)} ${one.currency}, ${early}`]
  })
  return { used: spelled.size, faults: faults.flat() }
}

/** The dispatch of an invoice with a price; undefined where the fixture has no line with one, or a validation refuses it. */
async function pricedTrial (subject: ProviderUnderTest, base: Base, one: Priced): Promise<Played & { parts: Part[] } | undefined> {
  const requested = services[base.service].vocabulary === 'invoice' ? pricedAs(base.requested, one) : undefined
  if (requested === undefined) return undefined
  const trial = await tried(base, [{ place: whole, value: requested['data'] ?? {} }])
  return trial.changes.length === 0 ? undefined : { parts: amountsOf(one, requested), ...await play(subject, base, trial) }
}

/** The data as one place: an amount changes the sums. */
const whole: Place = { at: '/data', kind: 'text', index: 0, own: undefined, fits: () => true, max: 0 }

async function play (subject: ProviderUnderTest, { prepared }: Base, { request, documents, requestSettings }: Trial): Promise<Played> {
  const { call } = prepared
  const run = await subject.play({ ...prepared, call: { ...call, verb: 'dispatch', request, documents, requestSettings } }, {},
    patientVendor)
  return { run, leaves: leavesOf(run) }
}

function faultsOf (trial: Trial, leaves: readonly Leaf[], { spelled, plain }: { spelled: Spellings, plain: readonly Leaf[] }): string[] {
  const known = new Set(plain.filter((leaf) => oddityOf(leaf) !== undefined).map(({ where }) => where))
  return [
    ...leaves.flatMap((leaf) => known.has(leaf.where) ? [] : oddityOf(leaf) ?? []),
    ...trial.changes.flatMap((change) => partsOf(change, trial)).flatMap((part) => partFaults(part, spelled, leaves))
  ]
}

/** A body that is not what it says, or a word in place of what was left out. */
function oddityOf ({ where, text, isNo }: Leaf): string | undefined {
  if (isNo !== undefined) return `${where} is no ${isNo}: hand values to the host as they are, and it writes the body.`
  return /\bundefined\b|\[object |\bNaN\b/.test(text) ? `${where} is ${shown(text)}: what is left out was written as a word.` : undefined
}

/** What is wrong with a value that reached the vendor when it was plain. */
function partFaults (part: Part, spellings: Spellings, leaves: readonly Leaf[], unit = ''): string[] {
  const spelled = spellings.get(part.at)
  if (spelled === undefined) return []
  const { right, wrong: [wrong] } = judge(part, spelled, leaves)
  const what = `${part.at}: ${shown(part.expected)}${unit}`
  if (wrong !== undefined) {
    return [`${what} reaches the vendor as ${shown(wrong.text)} (${wrong.where}): ${damageOf(part, wrong)}. ${advice(part)}`]
  }
  if (right) return []
  const now = leaves.filter(({ where }) => spelled.paths.includes(where)).map(({ where, text }) => `${shown(text)} (${where})`)
  return [`${what} does not reach the vendor${now.length === 0 ? '' : `, which gets ${now.slice(0, 3).join(', ')}`}. ${advice(part)}`]
}

/** The advice for the provider's author. */
function advice ({ kind }: Part): string {
  const advices: Readonly<Record<Part['kind'], string>> = {
    text: 'Hand it to the host as it is, or refuse what the vendor does not take in "limits" or "check".',
    filename: 'Keep the letters and digits of a name.',
    address: 'Take the address of a mailbox from readMailbox(), and change nothing of it.',
    phone: 'Send the number of the request, which is in E.164, or its parts.',
    day: 'Take days from invoiceOf(data): the time of a day is cut, and never converted.',
    amount: 'Take amounts from invoiceOf(data), and minor units from minorUnits(), which knows the decimals of each currency.',
    word: 'Send the postal code and the country as the request has them, or the line of placeLine().'
  }
  return advices[kind]
}

/** Characters of a value that are shown. */
const maxShown = 120

function shown (value: unknown): string {
  const text = JSON.stringify(value)
  return text.length <= maxShown ? text : `${text.slice(0, maxShown)}… (${text.length} characters)`
}
