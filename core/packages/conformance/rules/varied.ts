import { isRecord, type Json, type JsonObject } from '@dispatch/common'
import { ignoredIn } from '@dispatch/host'
import { services } from '@dispatch/services'
import { isDeepStrictEqual } from 'node:util'
import { type Answered, askAgain, askWith } from '../interrogation/ask.ts'
import { differing, documentForms, type Facts } from '../interrogation/facts.ts'
import { type Field, fieldsIn, firstLine, placeOf, type Several, severalIn } from '../interrogation/fields.ts'
import { isNamed, isOpposite, isReadByAll, names, takenFor } from '../interrogation/names.ts'
import { settingsOf } from '../interrogation/settings.ts'
import { type Case, judged } from '../report.ts'
import { inTurn } from '../run/in-turn.ts'
import type { Prepared } from '../run/prepare.ts'
import type { ProviderUnderTest } from '../run/subject.ts'
import { type Base, baseOf, type Change, kindOf } from '../values/trial.ts'

/**
 * Asks with one thing changed at a time, and compares what reaches the vendor: two values of a field, a choice or a setting must not look
 * the same, nothing of a list may be lost, and no field may be taken for another one. What a provider ignores or refuses, it declares.
 */
export async function variedCases (subject: ProviderUnderTest, fit: readonly Prepared[]): Promise<Case[]> {
  const bases = fit.flatMap((prepared) => baseOf(subject, prepared) ?? []).filter(({ prepared: { call } }) =>
    call.exchange.length > 0 || call.mail !== undefined || subject.installed.manifest.needs?.includes('disk') === true
  )
  const requests = await inTurn([...Map.groupBy(bases, kindOf).values()], (alike) => requestCase(subject, alike))
  return [...requests, ...await settingsOf(subject, bases)]
}

/** What came of a question: `shown`, the vendor can tell the values apart; `silent`, it cannot; `untold`, the dispatch ended before. */
type Verdict = { reported: 'shown' | 'untold' } | { reported: 'silent' | 'wrong', why: string }

async function requestCase (subject: ProviderUnderTest, alike: readonly Base[]): Promise<Case> {
  const [first] = alike
  const name = first === undefined ? 'a request' : `${first.prepared.name}: each field of its request`
  const shown = new Set<string>()
  const silent = new Map<string, string>()
  const wrong = new Set<string>()
  for (const base of alike) {
    const noise = new Set(differing((await askAgain(subject, base)).facts, (await askAgain(subject, base)).facts))
    for (const { at, ask } of questionsOf(subject, base, noise)) {
      if (shown.has(at)) continue
      const verdict = await ask()
      if (verdict.reported === 'untold') continue
      if (verdict.reported === 'silent') silent.set(at, verdict.why)
      if (verdict.reported === 'wrong') wrong.add(verdict.why)
      if (verdict.reported !== 'silent') shown.add(at)
    }
  }
  return judged('varied', name, [...wrong, ...[...silent].filter(([at]) => !shown.has(at)).map(([, why]) => why)])
}

/** Whether the provider has declared that it ignores a field of a request. */
function ignores ({ installed: { manifest }, service }: Base, { requested }: Pick<Answered, 'requested'>, at: string): boolean {
  return ignoredIn(manifest.services[service]?.ignores ?? [], requested).some(({ at: place }) =>
    `${anywhere(at)}/`.startsWith(`${anywhere(place)}/`)
  )
}

const anywhere = (at: string): string => at.replaceAll(/\/\d+(?=\/|$)/g, '/*')

type Question = { at: string, ask: () => Promise<Verdict> }

function questionsOf (subject: ProviderUnderTest, base: Base, noise: ReadonlySet<string>): Question[] {
  const { capabilities = {} } = subject.installed.manifest.services[base.service] ?? {}
  const isUsed = ({ name }: Field): boolean =>
    name !== 'phoneNumber' || services[base.service].signers === undefined || usesPhones(base, capabilities)
  return [
    ...fieldsIn(base).filter(isUsed).map((field) => ({ at: anywhere(field.at), ask: () => fieldVerdict(subject, base, field, noise) })),
    ...severalIn(base).map((several) => ({ at: `${several.at}/*`, ask: () => severalVerdict(subject, base, several) })),
    ...orderQuestions(subject, base),
    ...lineQuestions(subject, base)
  ]
}

function usesPhones ({ prepared: { call: { settings } } }: Base, { usesPhoneNumber: uses }: JsonObject): boolean {
  return uses === true || (typeof uses === 'string' && settings[uses] === true)
}

async function fieldVerdict (
  subject: ProviderUnderTest,
  base: Base,
  { at, name, values }: Field,
  noise: ReadonlySet<string>
): Promise<Verdict> {
  const tries = await inTurn(values, async (value) => ({
    value,
    answered: await askWith(subject, base, [{ place: placeOf(at), value }, ...besideOf(at)])
  }))
  const requested = tries.flatMap(({ value, answered }) => answered === undefined ? [] : [{ value, ...answered }])
  const placesOf = (one: Requested, other: Requested): string[] => [
    ...differing(one.facts, other.facts).filter((place) => !noise.has(place)),
    // A yes or no may be about the answer, such as whether it has a link.
    ...typeof one.value === 'boolean' && JSON.stringify(one.run.result) !== JSON.stringify(other.run.result) ? ['the answer'] : []
  ]
  const pairs = requested.flatMap((one, index) => requested.slice(index + 1).map((other) => ({ one, other, places: placesOf(one, other) })))
  const same = pairs.find(({ one, other, places }) => places.length === 0 && one.complete && other.complete)
  if (same !== undefined) {
    if (isSettledBefore(same.one, same.other) || (ignores(base, same.one, at) && ignores(base, same.other, at))) {
      return { reported: 'untold' }
    }
    return {
      reported: 'silent',
      why: `${at}: ${shownValue(at, same.one.value)} and ${shownValue(at, same.other.value)} reach the vendor as the same. ${todo}`
    }
  }
  const unduly = pairs.find(({ one, other, places }) => places.length > 0 && ignores(base, one, at) && ignores(base, other, at))
  if (unduly !== undefined) {
    return {
      reported: 'wrong',
      why: `${at}: it is declared in "ignores", and a change of it reaches the vendor (${unduly.places[0] ?? ''}): take it out there.`
    }
  }
  const faults = pairs.flatMap(({ one, other, places }) => mixedUp({ at, name, one, other, paths: places }))
  if (faults[0] !== undefined) return { reported: 'wrong', why: faults[0] }
  return { reported: pairs.some(({ places }) => places.length > 0) ? 'shown' : 'untold' }
}

/** What must be there besides to tell whether a field is mixed up with it: a blind copy beside an open one. */
function besideOf (at: string): Change[] {
  return at === '/email/bcc' ? [{ place: placeOf('/email/cc'), value: ['zqcc@example.com'] }] : []
}

const allOfThem = 'Send all of them, refuse in "limits" or "check" what is too many, or declare it in "ignores".'
const todo = 'Send it, refuse it in "limits" or "check", or declare it in "ignores".'

/** Whether both values are one for whoever makes the provider's request of them, such as two languages of which it knows neither. */
function isSettledBefore (one: Requested, other: Requested): boolean {
  return isDeepStrictEqual(one.requested, other.requested)
}

type Requested = Answered & { value: Json }

function mixedUp ({ at, name, one, other, paths }: {
  at: string
  name: string
  one: Requested
  other: Requested
  paths: readonly string[]
}): string[] {
  const taken = takenFor(name, paths)
  if (taken !== undefined) return [`${at}: it reaches the vendor as "${taken}" (${paths[0] ?? ''}). Send each value under its own name.`]
  const read = name === 'bcc' ? paths.find(isReadByAll) : undefined
  if (read !== undefined) return [`${at}: whoever gets the e-mail reads it (${read}). Send a blind copy under its own name alone.`]
  if (typeof one.value === 'boolean') {
    const [yes, no] = one.value ? [one.facts, other.facts] : [other.facts, one.facts]
    const wrong = paths.find((place) => isNamed(name, place) && isOpposite(place, { yes: yes.get(place), no: no.get(place) }))
    return wrong === undefined
      ? []
      : [`${at}: true reaches the vendor as ${JSON.stringify(yes.get(wrong) ?? '')} (${wrong}). Send it as it is.`]
  }
  // The requests of a dispatch that ended early are missing.
  return typeof one.value === 'string' && typeof other.value === 'string' && one.complete && other.complete
    ? wordFaults(at, one, other, paths)
    : []
}

/** The word of one choice that the vendor gets for the other one alone. */
function wordFaults (at: string, one: Requested, other: Requested, paths: readonly string[]): string[] {
  const reported = ({ facts }: Requested, { value }: Requested): boolean =>
    paths.some((place) => names(facts.get(place) ?? '', typeof value === 'string' ? value : ''))
  return [[one, other], [other, one]].flatMap(([mine, theirs]) =>
    mine !== undefined && theirs !== undefined && reported(mine, theirs) && !reported(theirs, theirs) ?
      [
        `${at}: ${JSON.stringify(mine.value)} reaches the vendor with the word of ${
          JSON.stringify(theirs.value)
        }. Send each choice under its own word.`
      ] :
      []
  )
}

async function severalVerdict (subject: ProviderUnderTest, base: Base, { at, items, marks }: Several): Promise<Verdict> {
  const answered = await askWith(subject, base, [{ place: placeOf(at), value: [...items] }])
  if (answered === undefined) {
    const [first, ...more] = items
    return first === undefined || more.length === 0
      ? { reported: 'untold' }
      : await severalVerdict(subject, base, { at, items: items.slice(0, -1), marks: marks.slice(0, -1) })
  }
  const lost = marks.findIndex((mark) => !reaches(mark, answered.facts))
  if (lost < 0) return { reported: 'shown' }
  if (!answered.complete || ignores(base, answered, at)) return { reported: 'untold' }
  return { reported: 'silent', why: `${at}: of ${items.length} given, number ${lost + 1} does not reach the vendor. ${allOfThem}` }
}

function reaches (mark: string | Buffer, facts: Facts): boolean {
  const forms = typeof mark === 'string' ? [mark] : documentForms(mark)
  return [...facts.values()].some((text) => forms.some((form) => text.includes(form)))
}

/** Who signs before whom. */
function orderQuestions (subject: ProviderUnderTest, base: Base): Question[] {
  const [signers] = severalIn(base).filter(({ at }) => at.endsWith('/signers'))
  if (signers === undefined) return []
  const at = `${signers.at}/*/order`
  const [one, other] = signers.marks.map(String)
  const ordered = (orders: readonly number[]): Json => orders.map((order, index) => ({ ...signers.items[index] as JsonObject, order }))
  const ask = async (): Promise<Verdict> => {
    const [forwards, backwards, together] = await inTurn([[1, 2], [2, 1], [1, 1]],
      (orders) => askWith(subject, base, [{ place: placeOf(signers.at), value: ordered(orders) }]))
    if (forwards === undefined || backwards === undefined) return { reported: 'untold' }
    const isReported = [backwards, together].every((other) => other === undefined || differing(forwards.facts, other.facts).length > 0)
    if (isReported) {
      const [there, back] = [orderOf(forwards.facts, one, other), orderOf(backwards.facts, other, one)]
      const isRight = there.isNumbered && back.isNumbered ? there.isFirst && back.isFirst : there.isFirst || back.isFirst
      return isRight || !forwards.complete || !backwards.complete
        ? { reported: 'shown' }
        : { reported: 'wrong', why: `${at}: who signs second reaches the vendor as the first. Send the order as it is.` }
    }
    return forwards.complete && backwards.complete && !ignores(base, forwards, at)
      ? { reported: 'silent', why: `${at}: one after the other, the other way round or together, the vendor gets the same. ${todo}` }
      : { reported: 'untold' }
  }
  return [{ at, ask }]
}

/**
 * Whether a signer comes before another one: by a number that is named so beside each, or else by who is named first, which a list of all
 * may be whatever their order.
 */
function orderOf (facts: Facts, who = '', whom = ''): { isFirst: boolean, isNumbered: boolean } {
  const entries = [...facts]
  const numberOf = (signer: string): number | undefined => {
    const [place = ''] = entries.find(([, text]) => text === signer) ?? []
    const beside = place.replace(/[^/]*$/, '')
    const [, number] =
      entries.find(([other]) =>
        beside !== '' && other.startsWith(beside) && /order|sequence|position|rank|step/i.test(other.slice(beside.length))
      ) ?? []
    return number === undefined || Number.isNaN(Number(number)) ? undefined : Number(number)
  }
  const [own, others] = [numberOf(who), numberOf(whom)]
  if (own !== undefined && others !== undefined) return { isFirst: own < others, isNumbered: true }
  const indexOf = (signer: string): number => entries.findIndex(([, text]) => text.includes(signer))
  return { isFirst: indexOf(who) < indexOf(whom), isNumbered: false }
}

/** Lines of an invoice: none is lost, and a quantity is no price. */
function lineQuestions (subject: ProviderUnderTest, base: Base): Question[] {
  const { service, requested: { data } } = base
  const line = firstLine(data)
  if (line === undefined || !isRecord(data) || subject.installed.manifest.services[service]?.verbs.includes('document') !== true) return []
  if (services[service].vocabulary !== 'invoice') return []
  const { allowances, charges, prepaidAmount, roundingAmount, amountDue, taxes, pricesIncludeTax, ...others } = data as JsonObject
  const rate = Number(line['taxRate'] ?? others['taxRate'] ?? 0)
  const whole = (lines: readonly JsonObject[], net: number): Json => {
    const tax = Math.round(net * rate) / 100
    const sums = { subtotal: net, taxAmount: tax }
    return {
      ...others,
      ...Object.fromEntries(Object.entries(sums).filter(([name]) => others[name] !== undefined)),
      total: Math.round((net + tax) * 100) / 100,
      lines
    }
  }
  const lineOf = (description: string, quantity: number, unitPrice: number): JsonObject => ({
    description,
    quantity,
    unitPrice,
    ...(line['taxRate'] !== undefined && { taxRate: rate }),
    total: quantity * unitPrice
  })
  const place = placeOf('/data/lines')
  const lines = async (): Promise<Verdict> => {
    const marks = ['zqalineqz', 'zqblineqz', 'zqclineqz']
    const answered = await askWith(subject, base, [{ place, value: whole(marks.map((mark, index) => lineOf(mark, index + 1, 10)), 60) }])
    if (answered === undefined) return { reported: 'untold' }
    const found = marks.filter((mark) => reaches(mark, answered.facts))
    // A vendor's answer is that of the fixture, whose total is another one: the lines are sent before.
    return found.length === marks.length
      ? { reported: 'shown' }
      : answered.complete || found.length > 0
      ? { reported: 'silent', why: `/data/lines: of ${marks.length} lines, ${found.length} reach the vendor. ${allOfThem}` }
      : { reported: 'untold' }
  }
  const amounts = async (): Promise<Verdict> => {
    const [seven, twelve] = await inTurn([[7, 12], [12, 7]],
      ([quantity = 1, price = 1]) => askWith(subject, base, [{ place, value: whole([lineOf('zqalineqz', quantity, price)], 84) }]))
    if (seven === undefined || twelve === undefined) return { reported: 'untold' }
    const paths = differing(seven.facts, twelve.facts)
    const wrong = paths.find((at) =>
      /(^|[^a-z])(qty|quantity)\W*$/i.test(at) && seven.facts.get(at) !== '7' && isSame(seven.facts.get(at), 12)
    )
    if (wrong !== undefined) {
      return {
        reported: 'wrong',
        why: `/data/lines/*/quantity: the price reaches the vendor in its place (${wrong}). Send each value under its own name.`
      }
    }
    if (paths.length > 0) return { reported: 'shown' }
    return seven.complete || reaches('zqalineqz', seven.facts)
      ? { reported: 'silent', why: `/data/lines/*/quantity: 7 at 12 and 12 at 7 reach the vendor as the same. ${todo}` }
      : { reported: 'untold' }
  }
  return [{ at: '/data/lines/*', ask: lines }, { at: '/data/lines/*/quantity', ask: amounts }]
}

function isSame (text: string | undefined, number: number): boolean {
  return text !== undefined && Number(text) === number
}

/** A value as it is told: of a place that is varied as a whole, its own part. */
function shownValue (at: string, value: Json): string {
  const name = at.replace(/.*\//, '')
  const part = Array.isArray(value) ? value[0] as Json : value
  const own = isRecord(part) && Object.hasOwn(part, name) ? part[name] as Json : value
  const text = JSON.stringify(own)
  return text.length > maxShown ? `${text.slice(0, maxShown)}…` : text
}

const maxShown = 80
