import { isRecord } from '@dispatch/common'
import { serviceNames } from '@dispatch/services'
import { isDeepStrictEqual } from 'node:util'
import type { OpenApiObject } from './components.ts'

type Schemas = Readonly<Record<string, OpenApiObject>>

/** A body has all that it must have and what its schema shows an example of; an answer all that it always has. */
export type Part = 'body' | 'answer'

/**
 * The media of a body or of an answer, each with an example made of its schema. What has examples of its own keeps them; bytes have none,
 * a text is as it is sent.
 */
export function withExamples (content: OpenApiObject, schemas: Schemas, part: Part): OpenApiObject {
  return Object.fromEntries(Object.entries(content).map(([type, media]) => {
    const { schema, ...own } = media as { readonly schema: OpenApiObject } & OpenApiObject
    if (own['example'] !== undefined || own['examples'] !== undefined || schema['format'] === 'binary') return [type, media]
    return [type, { schema, ...own, example: schema['type'] === 'string' ? texts[type] : exampleOf(schema, { schemas, part }) }]
  }))
}

/** Answers that are no JSON. */
const texts: Readonly<Record<string, string>> = {
  'text/event-stream': 'event: dispatch\ndata: {"dispatchId":"01a21ca0-666f-7b1a-93ed-cfbe33b6794a","status":"succeeded"}\n\n',
  'text/csv': 'row,status\n1,succeeded\n',
  'text/html': '<!doctype html><title>Connected</title>',
  'text/plain': 'Contact: mailto:security@example.com\n'
}

type Making = { schemas: Schemas, part: Part, name?: string }

/** A value that fits a schema, the same each time: its own example where it has one. */
export function exampleOf (schema: OpenApiObject, making: Making): unknown {
  const whole = flattened(schema, making.schemas)
  const { examples, enum: values, const: only, anyOf, oneOf, type } = whole
  if (only !== undefined) return only
  if (Array.isArray(examples) && examples.length > 0) return examples[0]
  if (whole['default'] !== undefined && making.part === 'answer') return whole['default']
  if (Array.isArray(values)) return values[0] as unknown
  const ways = (oneOf ?? anyOf ?? []) as readonly OpenApiObject[]
  // What may be nothing is nothing, unless it is an object: short, and the same for the end of a list and what has not come yet.
  if (making.part === 'answer' && ways[1]?.['type'] === 'null' && ways[0]?.['$ref'] === undefined) return null
  const [way] = ways
  // The other words of an object with ways say what stands in each of them.
  if (way !== undefined && type !== 'object') return exampleOf(way, making)
  const [kind] = [type].flat()
  if (kind === 'object' || isRecord(whole['properties'])) return objectOf(way === undefined ? whole : combined(whole, way, making), making)
  if (kind === 'array') return listOf(whole, making)
  if (kind === 'integer' || kind === 'number') return Math.max(Number(whole['minimum'] ?? 1), 1)
  if (kind === 'boolean') return true
  if (kind === 'null') return null
  return kind === 'string' ? textOf(whole, making) : {}
}

/** A schema with what it refers to, and all that must fit besides, as one. */
function flattened (schema: OpenApiObject, schemas: Schemas): OpenApiObject {
  const { $ref, allOf = [], ...own } = schema
  const parts = [
    ...typeof $ref === 'string' ? [schemas[$ref.slice($ref.lastIndexOf('/') + 1)] ?? {}] : [],
    ...allOf as readonly OpenApiObject[]
  ].map((part) => flattened(part, schemas))
  return parts.reduceRight((whole, part) => merged(part, whole), own as OpenApiObject)
}

/** Both at once: the words of the second go over those of the first. */
function merged (one: OpenApiObject, other: OpenApiObject): OpenApiObject {
  const properties = { ...one['properties'] as object | undefined, ...other['properties'] as object | undefined }
  const required = [...new Set([...namesIn(one['required']), ...namesIn(other['required'])])]
  return {
    ...one,
    ...other,
    ...Object.keys(properties).length === 0 ? {} : { properties },
    ...required.length === 0 ? {} : { required }
  }
}

function namesIn (list: unknown): readonly string[] {
  return Array.isArray(list) ? list as readonly string[] : []
}

/** The object in one of its ways, without what only the others have. */
function combined ({ oneOf, anyOf, ...rest }: OpenApiObject, way: OpenApiObject, { schemas }: Making): OpenApiObject {
  const whole = merged(rest, flattened(way, schemas))
  const needed = namesIn(whole['required'])
  const others = ((oneOf ?? anyOf) as readonly OpenApiObject[]).flatMap((one) => namesIn(flattened(one, schemas)['required']))
  const properties = Object.entries(whole['properties'] as OpenApiObject)
  return { ...whole, properties: Object.fromEntries(properties.filter(([name]) => needed.includes(name) || !others.includes(name))) }
}

function objectOf (schema: OpenApiObject, making: Making): OpenApiObject {
  const properties = (schema['properties'] ?? {}) as Readonly<Record<string, OpenApiObject>>
  const required = namesIn(schema['required'])
  const shown = making.part === 'answer'
    ? []
    : Object.keys(properties).filter((name) => hasExample(flattened(properties[name] ?? {}, making.schemas)))
  const least = Number(schema['minProperties'] ?? 0)
  const max = Number(schema['maxProperties'] ?? Infinity)
  const names = [...new Set([...required, ...shown])]
  const chosen = names.length >= least ? names : [...new Set([...names, ...Object.keys(properties)])].slice(0, least)
  return Object.fromEntries(
    chosen.slice(0, max).map((name) => [name, exampleOf(properties[name] ?? {}, { ...making, name })])
  )
}

function hasExample ({ examples }: OpenApiObject): boolean {
  return Array.isArray(examples) && examples.length > 0
}

function listOf ({ items, minItems = 1 }: OpenApiObject, making: Making): unknown[] {
  if (!isRecord(items)) return []
  const one = exampleOf(items, making)
  const values = (flattened(items, making.schemas)['enum'] ?? []) as readonly unknown[]
  return [one, ...values.filter((value) => !isDeepStrictEqual(value, one))].slice(0, Number(minItems) || 1)
}

const formats: Readonly<Record<string, string>> = {
  uuid: '01a21ca0-666f-7b1a-93ed-cfbe33b6794a',
  'date-time': '2026-11-23T09:30:00.000Z',
  'iso-8601': '2026-11-23T09:30:00.000Z',
  date: '2026-11-23',
  email: 'ada@example.com',
  uri: 'https://dispatch.example.com/',
  'https-url': 'https://example.com/callbacks'
}

function textOf ({ format, minLength }: OpenApiObject, { name = '' }: Making): string {
  const text = formats[String(format)] ?? words[name] ?? 'example'
  return text.padEnd(Number(minLength ?? 0), 'x')
}

/** What fields of these names have, where their schemas show nothing. */
const words: Readonly<Record<string, string>> = {
  requestId: '8fd5f189-aaf0-4182-aeba-7bbaa0ea7d9b',
  message: 'What is wrong, where, and what would be right.',
  path: '/template/data/number',
  code: 'required',
  email: 'ada@example.com',
  filename: 'Invoice-F-1.pdf',
  contentType: 'application/pdf',
  currency: 'EUR',
  version: '1.0.0',
  sha256: 'c08b20338fc2d684be81ed09e74f5ea399f184bb5fb9a77c26c5505a2b9e0d92',
  secret: `whsec_${btoa('an example, not a secret')}`,
  locale: 'en-GB',
  method: 'POST',
  name: 'Acme',
  companyName: 'Acme',
  url: formats['uri'] ?? '',
  ...Object.fromEntries(['service', 'services'].map((name) => [name, serviceNames[0]]))
}
