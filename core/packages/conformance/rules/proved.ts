import { isRecord, type Json, type JsonObject, minorDigits, Money, textOf } from '@dispatch/common'
import type { Manifest } from '@dispatch/host'
import { services } from '@dispatch/services'
import { isDeepStrictEqual } from 'node:util'
import type { Exchange } from '../fixtures/fixture.ts'
import { type Case, judged } from '../report.ts'
import { compareRequest } from '../run/compare.ts'
import { isSignIn, isUnsafe } from '../run/fault-injection.ts'
import { inTurn } from '../run/in-turn.ts'
import { patientVendor } from '../run/scripted-vendor.ts'
import type { ProviderUnderTest } from '../run/subject.ts'
import { passedFrom, type Played } from './outcomes.ts'

/** What a vendor says in place of its true answers. `from`: the index of the first answer that is another one. */
type Lie = { what: string, from: number, exchange: Exchange }

/**
 * Answers with success, and with something wrong in it: another total, another number, no id, errors. A provider of invoices accepts none
 * of it, and issues nothing after it.
 */
export async function provedCases (subject: ProviderUnderTest, fit: readonly Played[]): Promise<Case[]> {
  const { installed: { manifest } } = subject
  const invoices = fit.filter(({ prepared: { call, result } }) =>
    call.verb === 'dispatch' && services[call.service].vocabulary === 'invoice' && result['outcome'] === 'accepted' &&
    call.repeated === undefined && call.exchange.length > 0
  )
  const cases = await inTurn([...Map.groupBy(invoices, shapeOf).values()].flatMap(([first]) => first ?? []), async (played) => {
    const { prepared: { name, call: { service, checkpointed } } } = played
    const lies = liesOf(manifest, played)
    const isUnread = manifest.services[service]?.verbs.includes('document') === true && checkpointed === undefined &&
      !lies.some(({ what }) => what === anotherTotal)
    return [
      ...isUnread ? [judged('proved', `${name}: the total`, [unread])] : [],
      ...await inTurn(lies, async (lie) => await lieCase(subject, played, lie))
    ]
  })
  return cases.flat()
}

const unread = 'No answer of the vendor has the total of the invoice: read the total before it is issued, compare it with ' +
  'invoiceOf(data).total, and show it in the fixture.'

/** Dispatches of one shape answer alike. */
function shapeOf ({ prepared: { call: { service, checkpointed, exchange, ...call } } }: Played): string {
  const type = call.verb === 'dispatch' ? textOf(call.request, '/invoicing/documentType') : undefined
  const sent = exchange.map(({ expect: { method, url } }) => `${method} ${url.replace(/\?.*/, '')}`)
  return JSON.stringify([service, type, checkpointed !== undefined, sent])
}

const anotherTotal = 'with another total'

function liesOf ({ services: offered, errors }: Manifest, { prepared, run }: Played): Lie[] {
  const { call, result } = prepared
  const { exchange } = call
  const { data } = call.verb === 'dispatch' ? call.request : {}
  const passed = passedFrom(offered, prepared, run)
  const id = idOf(result, exchange)
  const everywhere = (what: string, lie: (answer: Json) => Json | undefined): Lie[] =>
    // Said from the beginning, and of what is issued alone.
    [...new Set([0, passed])].flatMap((from) => lieFrom(exchange, { what, from, lie }))
  const once = (what: string, lie: (answer: Json) => Json | undefined): Lie[] =>
    exchange.flatMap((entry, at) =>
      !isUnsafe(entry) ? [] : lieFrom(exchange, { what: `${what} (request ${at + 1})`, from: at, until: at, lie })
    )
  return [
    ...everywhere(anotherTotal, (answer) => otherTotal(answer, data ?? {})),
    ...everywhere('with somebody else\'s number', (answer) => otherNumber(answer, textOf(data ?? {}, '/number'))),
    ...id === undefined ? [] : once('with an id of zeros', (answer) => zeroAt(answer, id)),
    ...id === undefined ? [] : once('with errors in it', (answer) => hasId(answer, id) ? withErrors(answer, errors) : undefined)
  ]
}

type Telling = { what: string, from: number, until?: number, lie: (answer: Json) => Json | undefined }

/** The exchange with a lie in its answers; none where nothing of them can be one. */
function lieFrom (exchange: Exchange, { what, from, until = exchange.length, lie }: Telling): Lie[] {
  const first: number[] = []
  const changed = exchange.map((entry, at) => {
    const { json, status = 200 } = entry.answer
    const other = json === undefined || status >= 300 || isSignIn(entry) || at < from || at > until ? undefined : lie(json)
    if (other === undefined) return entry
    first.push(at)
    return { ...entry, answer: { ...entry.answer, json: other } }
  })
  return first[0] === undefined ? [] : [{ what, from: first[0], exchange: changed }]
}

function otherTotal (answer: Json, data: Json): Json | undefined {
  const total = textOf(data, '/amountDue') ?? textOf(data, '/total')
  const currency = textOf(data, '/currency') ?? ''
  if (total === undefined) return undefined
  return changedAt(answer, (value, name) => isTotal(value, name, { total, currency }),
    (value) => typeof value === 'number' ? value + 1 : `${Number(value) + 1}`)
}

function otherNumber (answer: Json, number: string | undefined): Json | undefined {
  return number === undefined
    ? undefined
    : changedAt(answer, (value, name) => value === number && /num|no$/i.test(name), () => 'ZQ-SOMEBODY-ELSE')
}

/** The vendor's id, as it stands in an answer: by itself, or else at the end of an address. */
function idOf (result: JsonObject, exchange: Exchange): string | undefined {
  const reported = textOf(result, '/response/id') ?? ''
  const texts = exchange.flatMap(({ answer: { json } }) => textsIn(json ?? null)).filter((text) => text.length > 0)
  return texts.find((text) => reported === text || reported.endsWith(`-${text}`) || reported.endsWith(`:${text}`)) ??
    texts.find((text) => reported !== '' && URL.canParse(text) && text.endsWith(`/${reported}`))
}

function textsIn (value: Json): string[] {
  if (typeof value === 'string' || typeof value === 'number') return [String(value)]
  return typeof value === 'object' && value !== null ? Object.values(value as JsonObject).flatMap(textsIn) : []
}

const hasId = (answer: Json, id: string): boolean => textsIn(answer).includes(id)

function isTotal (value: Json, name: string, { total, currency }: { total: string, currency: string }): boolean {
  if (!/total|amount|due|gross|sum/i.test(name) || /line|item|tax|sub|paid|remaining/i.test(name) ||
    (typeof value !== 'string' && typeof value !== 'number')) return false
  if (!/^-?\d+(\.\d+)?$/.test(String(value))) return false
  const [reported, requested] = [new Money(value), new Money(total)]
  return reported.eq(requested) || reported.eq(requested.mul(new Money(10).pow(minorDigits(currency)))) || reported.eq(requested.mul(100))
}

/** The answer with each value that is meant replaced; undefined where none is. */
function changedAt (value: Json, isMeant: (value: Json, name: string) => boolean, other: (value: Json) => Json): Json | undefined {
  const change = (inner: Json, name: string): Json => {
    if (isMeant(inner, name)) return other(inner)
    if (Array.isArray(inner)) return inner.map((item: Json) => change(item, name))
    if (!isRecord(inner)) return inner
    // What we have given to be kept beside it proves nothing. An amount with its currency is named by what holds both.
    return Object.fromEntries(
      Object.entries(inner as JsonObject).map(
        ([key, field]) => [key, key === 'metadata' ? field : change(field, key === 'value' ? name : key)]
      )
    )
  }
  const changed = change(value, '')
  return isDeepStrictEqual(changed, value) ? undefined : changed
}

/** An id that is no id: of the same form, with nothing but zeros; empty where letters name its kind. */
function zeroAt (answer: Json, id: string): Json | undefined {
  const last = id.slice(id.lastIndexOf('/') + 1)
  const zeros = /^[0-9a-f-]+$/i.test(last) ? last.replaceAll(/[0-9a-f]/gi, '0') : ''
  const zero = (value: Json): Json => typeof value === 'number' ? 0 : `${id.slice(0, id.length - last.length)}${zeros}`
  return changedAt(answer, (value) => value === id || (typeof value === 'number' && String(value) === id), zero)
}

/** Whatever vendors write into an answer of success that is none: at the places that the manifest names, and beside the id. */
function withErrors (answer: Json, { at = [], message = [] }: Manifest['errors']): Json {
  const reported = [...[at].flat().filter((place) => typeof place === 'string').slice(0, 1), ...[message].flat().slice(0, 1)]
  const marked = mark(answer)
  return reported.reduce<Json>((whole, pointer) => planted(whole, pointer.replaceAll('*', '0').split('/').slice(1)), marked)
}

const text = 'The kit has refused it.'
const marks: JsonObject = {
  errors: [{ code: 'kit_error', message: text }],
  error: { code: 'kit_error', type: 'kit_error', message: text },
  HasErrors: true,
  HasValidationErrors: true,
  StatusAttributeString: 'ERROR',
  ValidationErrors: [{ Message: text }],
  success: false,
  ok: false
}

/** Beside every id or status. */
function mark (value: Json): Json {
  if (Array.isArray(value)) return value.map((item: Json) => mark(item))
  if (!isRecord(value)) return value
  const fields = Object.fromEntries(Object.entries(value as JsonObject).map(([name, inner]) => [name, mark(inner)]))
  return { ...fields, ...marks }
}

function planted (value: Json, [name, ...rest]: readonly string[]): Json {
  if (name === undefined) return 'kit_error'
  const holder: JsonObject = isRecord(value) ? value : {}
  if (Array.isArray(value)) return value.map((item: Json, index) => String(index) === name ? planted(item, rest) : item)
  return { ...holder, [name]: planted(holder[name] ?? {}, rest) }
}

async function lieCase (subject: ProviderUnderTest, { prepared, run }: Played, { what, from, exchange }: Lie): Promise<Case> {
  const { name, call, filling } = prepared
  const { result, requests } = await subject.play({ ...prepared, call: { ...call, exchange } }, {}, patientVendor)
  const passed = passedFrom(subject.installed.manifest.services, prepared, run)
  const issuing = call.exchange.slice(passed).filter(isUnsafe)
  const isIssued = from < passed && call.checkpointed === undefined &&
    requests.slice(from + 1).some(({ request }) => issuing.some(({ expect }) => compareRequest(expect, request, filling).length === 0))
  return judged('proved', `${name}: answered ${what}, from request ${from + 1} of ${exchange.length}`, [
    ...result.outcome === 'accepted' ? [believed] : [],
    ...isIssued ? ['The invoice is issued all the same: compare before context.checkpoint(id).'] : []
  ])
}

const believed =
  'It is called accepted: compare what the vendor has made with what it was asked, and throw refused(), or outcomeUnknown() where ' +
  'it is issued already.'
