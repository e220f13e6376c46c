import { at as valueAt, isRecord, type Json, type JsonObject } from '@dispatch/common'
import { services } from '@dispatch/services'
import { fieldsOf, type Place, resolved } from '../values/places.ts'
import type { Base } from '../values/trial.ts'
import { alternativesOf } from './alternatives.ts'

/** A field of a request, by a JSON pointer into what a fixture asks, with values of which each says something else. */
export type Field = { at: string, name: string, values: readonly Json[] }

/** A list of a request, by its pointer, with items that can be told apart: `marks` are texts of each, or its bytes. */
export type Several = { at: string, items: readonly Json[], marks: readonly (string | Buffer)[] }

/** Every field that a client may give, also one that the fixture leaves out: those of the service, and of the request's settings. */
export function fieldsIn (base: Base): Field[] {
  const { installed: { manifest }, service, requested } = base
  const own = fieldsBelow(requested[service] ?? {}, { at: `/${service}`, schema: fieldsOf(service), name: service }, base)
  const { settings } = requested
  const given = Object.entries(manifest.requestSettings.properties).filter(([, { 'x-services': only }]) =>
    only === undefined || only.includes(service)
  ).flatMap(([name, schema]) => fieldsBelow(valueAt(settings ?? {}, `/${name}`), { at: `/settings/${name}`, schema, name }, base))
  return [...own, ...countryField(base), ...given, ...documentFields(base), ...placeFields(base), ...invoiceFields(base)].filter(
    ({ at, values }) => values.length > 1 && !isInDocument(base, at) && !isOfHost(base, at)
  )
}

/** Whether it asks for the page with the address, which the host puts before the document that the provider gets. */
function isOfHost ({ installed: { manifest }, service }: Base, at: string): boolean {
  const { when = {} } = (manifest.services[service]?.capabilities as { addressPage?: { when?: object } } | undefined)?.addressPage ?? {}
  return Object.hasOwn(when, at)
}

/** Whether our own document says it, which the vendor gets. An e-invoice shows its format itself. */
function isInDocument ({ installed: { manifest }, service }: Base, at: string): boolean {
  const { content, shared = [] } = services[service]
  return content === 'document' && !('document' in theirs(manifest.services[service]?.capabilities)) &&
    (at === `/${service}/eInvoiceFormat` || shared.some(({ field, isRecipient }) => isRecipient !== true && at === `/${service}${field}`))
}

type Spot = { at: string, schema: unknown, name: string }

function fieldsBelow (value: Json | undefined, { at, schema, name }: Spot, base: Base): Field[] {
  const known = resolved(schema)
  if (!isRecord(known)) return []
  const { properties, items, type } = known
  if (isRecord(properties)) {
    const holder: Json = isRecord(value) ? value : {}
    return Object.entries(properties).flatMap(([field, inner]) =>
      fieldsBelow(valueAt(holder, `/${field}`), { at: `${at}/${field}`, schema: inner, name: field }, base)
    )
  }
  if (type === 'array' && isRecord(items)) {
    return Array.isArray(value)
      ? value.flatMap((item: Json, index) => fieldsBelow(item, { at: `${at}/${index}`, schema: items, name }, base))
      : []
  }
  if (name === 'headers') return [{ at, name, values: [{ 'X-Kit': 'zq1qz' }, { 'X-Kit': 'zq2qz' }] }]
  return [{ at, name, values: valuesFor(known, { at, name, own: value }, base) }]
}

function valuesFor (
  schema: Readonly<Record<string, unknown>>,
  about: { at: string, name: string, own: Json | undefined },
  base: Base
): Json[] {
  const { service, installed: { manifest } } = base
  const capabilities: JsonObject = manifest.services[service]?.capabilities ?? {}
  const [list] = Object.entries(services[service].choices ?? {}).find(([, field]) => about.at === `/${service}/${field}`) ?? []
  const offered = list === undefined ? undefined : capabilities[list]
  if (Array.isArray(offered)) return [...offered as Json[]]
  const { locales, sendByEmail } = capabilities
  if (about.name === 'sendByEmail' && (sendByEmail ?? false) === false) return []
  return alternativesOf(schema, { ...about, known: [], ...(Array.isArray(locales) && { locales: locales as string[] }) })
}

/** Countries whose postal codes look alike, so that nothing else changes with them. */
const alike = ['FR', 'DE', 'IT', 'ES', 'FI']

/** The country of a recipient, with what else an address has there. */
function countryField ({ installed: { manifest }, service, requested }: Base): Field[] {
  const { recipient } = isRecord(requested[service]) ? requested[service] as JsonObject : {}
  if (!isRecord(recipient)) return []
  const { countries } = (manifest.services[service]?.capabilities ?? {}) as JsonObject
  const { state, ...whole } = recipient as JsonObject
  const reached = alike.filter((country) => !Array.isArray(countries) || countries.includes(country)).slice(0, 2)
  const values = reached.map((country) => ({ ...whole, postalCode: '10115', country }))
  return [{ at: `/${service}/recipient/country`, name: 'country', values }]
}

/** The bytes of a document, where the provider does not make it itself, and the name of what a client uploads. */
function documentFields ({ installed: { manifest }, service, requested }: Base): Field[] {
  const { content } = services[service]
  const own = isRecord(requested['document']) ? requested['document'] : {}
  if ((content !== 'document' && content !== 'upload') || 'document' in theirs(manifest.services[service]?.capabilities)) return []
  return [
    { at: '/document', name: 'document', values: ['%PDF-1.7 zq1qz', '%PDF-1.7 zq2qz'].map((text): Json => ({ ...own, content: text })) },
    ...content === 'upload'
      ? [{ at: '/document/filename', name: 'filename', values: ['zq1qz.pdf', 'zq2qz.pdf'] }]
      : []
  ]
}

function theirs (capabilities: JsonObject = {}): JsonObject {
  return capabilities['document'] === 'theirs' ? { document: 'theirs' } : {}
}

/** Where each signer signs. */
function placeFields ({ service, requested }: Base): Field[] {
  if (services[service].signers === undefined) return []
  const place = (change: JsonObject): Json => [{ signer: 1, page: 1, x: 72, y: 644, width: 200, height: 60, ...change }]
  const { signers } = isRecord(requested[service]) ? requested[service] as { signers?: Json } : {}
  const numbers = {
    page: [1, 2],
    x: [72, 111],
    y: [644, 555],
    width: [200, 233],
    height: [60, 77],
    ...Array.isArray(signers) && signers.length > 1 && { signer: [1, 2] }
  }
  return Object.entries(numbers).map(([name, values]) => ({
    at: `/signatures/*/${name}`,
    name,
    values: values.map((value) => place({ [name]: value }))
  }))
}

/** The words of an invoice that every vendor has who makes it. What `carries` says of it is tried for itself. */
function invoiceFields ({ installed: { manifest }, service, requested }: Base): Field[] {
  const { capabilities, carries } = manifest.services[service] ?? {}
  const { data } = requested
  if (!('document' in theirs(capabilities)) || !isRecord(data)) return []
  const line = firstLine(data)
  const whole = (change: JsonObject): Json => ({ ...data as JsonObject, ...change })
  const customer: JsonObject = isRecord(data['customer']) ? data['customer'] : {}
  const reported = carries === undefined
    ? [
      { name: 'number', values: ['ZQ-1', 'ZQ-2'].map((number) => whole({ number })) },
      { name: 'date', values: ['2026-03-02', '2026-03-04'].map((date) => whole({ date })) },
      { name: 'dueDate', values: ['2027-05-13', '2027-06-17'].map((dueDate) => whole({ dueDate })) },
      { name: 'currency', values: ['EUR', 'USD'].map((currency) => whole({ currency })) },
      { name: 'customer/name', values: ['zq1qz', 'zq2qz'].map((name) => whole({ customer: { ...customer, name } })) },
      ...line === undefined
        ? []
        : [{ name: 'lines/*/description', values: ['zq1qz', 'zq2qz'].map((description) => whole({ lines: [{ ...line, description }] })) }]
    ]
    : []
  return reported.map(({ name, values }) => ({ at: `/data/${name}`, name: name.replace(/.*\//, ''), values }))
}

/** The first line of an invoice, which stands for others. */
export function firstLine (data: Json | undefined): JsonObject | undefined {
  const lines = isRecord(data) ? (data as JsonObject)['lines'] : undefined
  const [line] = Array.isArray(lines) ? lines as readonly Json[] : []
  return isRecord(line) ? line : undefined
}

/** Lists of a request with several items, of which none may be lost. */
export function severalIn (base: Base): Several[] {
  const { service, requested } = base
  const own: JsonObject = isRecord(requested[service]) ? requested[service] : {}
  if (services[service].content === 'message') return [...recipientLists(own, service), ...fileLists(base)]
  const { attachments } = (base.installed.manifest.services[service]?.capabilities ?? {}) as JsonObject
  return [...signerLists(own, service), ...attachments === undefined ? [] : fileLists(base).filter(({ at }) => at === '/attachments')]
}

function recipientLists (own: JsonObject, service: string): Several[] {
  return ['to', 'cc', 'bcc', 'replyTo'].map((name) => {
    const items = ['a', 'b', 'c'].map((letter) => `zq${letter}${name.toLowerCase()}qz@example.com`)
    return { at: `/${service}/${name}`, items, marks: items }
  })
}

function fileLists ({ installed: { manifest } }: Base): Several[] {
  const texts = ['a', 'b', 'c'].map((letter) => `zq${letter}fileqz`)
  const marks = texts.map((text) => Buffer.from(`The kit's ${text}.`))
  const files = texts.map((name, index) => ({
    filename: `${name}.pdf`,
    contentType: 'application/pdf',
    content: marks[index]?.toString() ?? ''
  }))
  const pictures = files.map((file, index) => ({
    ...file,
    filename: `${texts[index] ?? ''}.png`,
    contentType: 'image/png',
    contentId: `${texts[index] ?? ''}@kit`
  }))
  const shows = manifest.services.email?.capabilities.inlinePictures !== false
  return [{ at: '/attachments', items: files, marks }, ...shows ? [{ at: '/inline', items: pictures, marks }] : []]
}

function signerLists (own: JsonObject, service: string): Several[] {
  const { signers } = own
  const [first] = Array.isArray(signers) ? signers as readonly Json[] : []
  if (!isRecord(first)) return []
  const marks = ['a', 'b', 'c'].map((letter) => `zq${letter}signerqz@example.com`)
  const items = marks.map((email, index): Json => ({
    ...withoutOrder(first as JsonObject),
    email,
    firstName: `Zq${index}`,
    lastName: `Qz${index}`
  }))
  return [{ at: `/${service}/signers`, items, marks }]
}

function withoutOrder ({ order, ...signer }: JsonObject): JsonObject {
  return signer
}

/** A pointer of a field as a place of a trial. */
export function placeOf (at: string): Place {
  // An address that is changed as a whole gets whole values.
  const pointer = at.startsWith('/signatures/')
    ? '/signatures'
    : at.startsWith('/data/')
    ? '/data'
    : at.replace(/\/recipient\/country$/, '/recipient')
  return { at: pointer, kind: 'text', index: 0, own: undefined, fits: () => true, max: 0 }
}
