import { compileJsonSchema, isRecord, type Json, type JsonObject, pointer, vocabularies } from '@dispatch/common'
import type { SettingsSchema } from '@dispatch/host'
import { type ProvidedName, services } from '@dispatch/services'
import { awkward, isAddressField, type Kind } from './awkward.ts'

/**
 * A place of what a client asks: a JSON pointer into the request of a fixture, in which `/settings` are those of the request. A postal
 * address is one place.
 */
export type Place = { at: string, kind: Kind, index: number, own: Json | undefined, fits: (value: Json) => boolean, max: number }

/** What a client may ask: the request of a fixture, and its `settings`. */
export type Requested = JsonObject

/** The most characters of a text whose schema does not say it. */
const usualMost = 1000
/** Vendors that take metadata take little of it. */
const metadata = { type: 'object', additionalProperties: { type: 'string', maxLength: 150, pattern: '^[^\n]*$' } }

/** The places of a request that have a kind, by the schemas of the service, of invoices and of the provider's settings of a request. */
export function placesOf (service: ProvidedName, requested: Requested, settings: SettingsSchema): Place[] {
  const { [service]: own, data, metadata: pairs, settings: given, document, attachments, inline } = requested
  const found = [
    ...placesIn(own ?? {}, { at: `/${service}`, schema: fieldsOf(service), name: service }),
    ...services[service].vocabulary === 'invoice' ? placesIn(data ?? {}, { at: '/data', schema: invoice, name: 'data' }) : [],
    ...placesIn(pairs ?? {}, { at: '/metadata', schema: metadata, name: 'metadata' }),
    ...placesIn(given ?? {}, { at: '/settings', schema: settings, name: 'settings' }),
    ...hasFile(service) ? [filename('/document', document)] : [],
    ...listed(attachments, '/attachments'),
    ...listed(inline, '/inline')
  ]
  return found.map((place, index) => ({ ...place, index }))
}

type Found = Omit<Place, 'index'>
type Spot = { at: string, schema: unknown, name: string }

const invoice = vocabularies.find(({ $id }) => $id === 'dispatch:invoice')

/** Whether its providers get a file: what is made, or what came with the request. */
function hasFile (service: ProvidedName): boolean {
  const { content } = services[service]
  return content === 'document' || content === 'upload'
}

/** The schema of a service's own object, as a fixture has it: a mail with its texts. */
export function fieldsOf (service: ProvidedName): object {
  const { content, fields: { properties } } = services[service]
  return {
    type: 'object',
    properties: content === 'message' ? { ...properties, html: { type: 'string' }, text: { type: 'string' } } : properties
  }
}

function listed (documents: Json | undefined, at: string): Found[] {
  return Array.isArray(documents) ? documents.map((document: Json, index) => filename(`${at}/${index}`, document)) : []
}

function filename (at: string, document: Json | undefined): Found {
  const own = isRecord(document) ? document['filename'] as Json : undefined
  return { at: `${at}/filename`, kind: 'filename', own, fits: () => true, max: usualMost }
}

function placesIn (value: Json, { at, schema, name }: Spot): Found[] {
  const known = resolved(schema)
  if (!isRecord(known)) return []
  if (typeof value === 'string') return placeAt(value, { at, schema: known, name })
  if (Array.isArray(value)) {
    return value.flatMap((item: Json, index) => placesIn(item, { at: `${at}/${index}`, schema: known['items'], name }))
  }
  if (!isRecord(value)) return []
  const isPostal = typeof value['city'] === 'string' && typeof value['country'] === 'string'
  const properties = isRecord(known['properties']) ? known['properties'] : {}
  const below = (field: string, inner: Json): Found[] =>
    placesIn(inner, {
      at: pointer(at, field),
      schema: Object.hasOwn(properties, field) ? properties[field] : known['additionalProperties'],
      name: field
    })
  const given = Object.entries(value as JsonObject).filter(([field]) => !isPostal || !isAddressField(field))
  const left = Object.keys(properties).filter((field) => mayBeAdded.test(at) && !Object.hasOwn(value, field) && !isAddressField(field))
  return [
    ...isPostal ? [{ at, kind: 'location', own: value, fits: () => true, max: usualMost } as const] : [],
    ...given.flatMap(([field, inner]) => below(field, inner)),
    ...left.flatMap((field) => below(field, '').filter(({ kind }) => kind === 'text'))
  ]
}

/** Where a text that a fixture leaves out is added: in an invoice and in a recipient it says nothing of what is to be done. */
const mayBeAdded = /^\/(data|postal\/recipient)/

/** Words and numbers that mean something to programs. */
const words = new Set(['language', 'currency', 'taxCurrency', 'unit', 'scheme', 'logo', 'country', 'locale'])

function placeAt (own: string, { at, schema, name }: { at: string, schema: Record<string, unknown>, name: string }): Found[] {
  const { format, title, enum: choices, const: one, maxLength = usualMost } = schema
  const kinds: Readonly<Record<string, Kind | undefined>> = {
    mailbox: 'mailbox',
    'mailbox-or-none': 'mailbox',
    'mail-address': 'address',
    'iso-8601': 'day'
  }
  const kind = title === 'PhoneNumber'
    ? 'phone'
    : typeof format === 'string'
    ? kinds[format]
    : name === 'email'
    ? 'address'
    : kindOf(schema)
  if (kind === undefined || choices !== undefined || one !== undefined || words.has(name)) return []
  const fit = compileJsonSchema(schema)
  return [{ at, kind, own, fits: (value) => fit(value).ok, max: Math.min(Number(maxLength), 5 * usualMost) }]
}

function kindOf ({ anyOf, type }: Record<string, unknown>): Kind | undefined {
  const forms = Array.isArray(anyOf) ? anyOf : []
  if (forms.some((form) => isRecord(form) && form['format'] === 'date')) return 'day'
  return type === 'string' ? 'text' : undefined
}

/** The schema behind a reference into the vocabulary of invoices. */
export function resolved (schema: unknown): unknown {
  if (!isRecord(schema) || typeof schema['$ref'] !== 'string') return schema
  return resolved(
    schema['$ref'].replace(/^.*#\//, '').split('/').reduce<unknown>((found, name) => isRecord(found) ? found[name] : undefined, invoice)
  )
}

/** A text of ASCII by which a value is found again. No mark stands in another one, nor in a text of anybody else. */
export function markOf ({ index }: Pick<Place, 'index'>, part = 0): string {
  return `zq${index}${'abcdefgh'[part] ?? ''}qz`
}

/** The values of a place, in the order of its kind. One that does not fit its schema is undefined: no client can send it. */
export function valuesOf (place: Place): (Json | undefined)[] {
  const { kind, own, index, max, fits } = place
  return awkward[kind].map((make) => {
    const value = make({ mark: (part) => markOf(place, part), own, index, max })
    return value === undefined || !fits(value) ? undefined : value
  })
}
