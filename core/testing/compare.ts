import { isDeepStrictEqual } from 'node:util'
import type { Json, JsonObject } from '../contract/json.ts'
import { basicHeader } from '../host/sign-in-basic.ts'
import { at } from '../services/data.ts'
import type { Expected, Part } from './fixture.ts'
import type { Received, ReceivedPart } from './requests.ts'

/** What the placeholders of a fixture stand for, and the bytes of its documents by JSON pointer into the request. */
export type Filling = { reference: string, idempotencyKey: string, now: string, request: JsonObject, documents: ReadonlyMap<string, Buffer> }

/** The JSON with its placeholders filled in; `{{any}}` stays. */
export function fill<Value extends Json> (value: Value, filling: Filling): Value
export function fill (value: Json, filling: Filling): Json {
  if (typeof value === 'string') return fillText(value, filling)
  if (Array.isArray(value)) return value.map((item: Json) => fill(item, filling))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, fill(item, filling)]))
}

const placeholder = /\{\{(reference|idempotencyKey|now|request\/[^}]+)\}\}/g

function fillText (text: string, filling: Filling): Json {
  const valueOf = (name: string): Json | undefined => name.startsWith('request/') ? at(filling.request, name.slice('request'.length)) : at({ ...filling, request: null, documents: null }, `/${name}`)
  const [whole, name] = new RegExp(`^${placeholder.source}$`).exec(text) ?? []
  if (whole !== undefined && name !== undefined) return valueOf(name) ?? text
  return text.replaceAll(placeholder, (kept, name: string) => {
    const value = valueOf(name)
    return typeof value === 'object' || value === undefined ? kept : String(value)
  })
}

/** How a request differs from what was expected (placeholders filled in): a sentence for each difference. */
export function compareRequest (expected: Expected, received: Received, filling: Filling): string[] {
  const { host, path, search } = addressOf(expected)
  return [
    ...differs('method', expected.method, received.method),
    ...differs('host', host, received.host),
    ...differs('path', path, received.path),
    ...differs('query', { ...grouped(search), ...pairsOf(expected.query) }, grouped(received.search)),
    ...Object.entries(headersOf(expected)).flatMap(([name, value]) => differs(`header "${name}"`, value, received.headers[name.toLowerCase()])),
    ...compareBody(expected, received, filling)
  ]
}

/** Whether a request is at least the one meant: by method and address. */
export function isMeant (expected: Expected, received: Received): boolean {
  const { host, path } = addressOf(expected)
  return expected.method === received.method && isSame(host, received.host) && isSame(path, received.path)
}

/** A URL would encode the braces. */
function addressOf ({ url }: Expected): { host: string, path: string, search: [string, string][] } {
  const stand = 'any--text'
  const { hostname, pathname, searchParams } = new URL(url.replaceAll(any, stand))
  const back = (text: string): string => text.replaceAll(stand, any)
  return { host: back(hostname), path: back(pathname), search: [...searchParams].map(([key, value]) => [key, back(value)]) }
}

function headersOf ({ headers = {}, basic: [user, password] = [], bearer }: Expected): Record<string, string> {
  return {
    ...headers,
    ...(user !== undefined && password !== undefined && { authorization: basicHeader(user, password) }),
    ...(bearer !== undefined && { authorization: `Bearer ${bearer}` })
  }
}

function compareBody ({ form, json, multipart, document, text }: Expected, received: Received, { documents }: Filling): string[] {
  if (form !== undefined) return received.pairs === undefined ? [`The body is no form: ${shown(received.body)}`] : differs('form', pairsOf(form), grouped(received.pairs))
  if (json !== undefined) return received.json === undefined ? [`The body is no JSON: ${shown(received.body)}`] : differs('JSON', json, received.json)
  if (multipart !== undefined) return received.parts === undefined ? [`The body is not multipart: ${shown(received.body)}`] : compareParts(multipart, received.parts, documents)
  if (document !== undefined) return compareDocument('The body', document, received.body, documents)
  return differs('body', text ?? '', received.body.toString())
}

function compareParts (expected: NonNullable<Expected['multipart']>, received: readonly ReceivedPart[], documents: Filling['documents']): string[] {
  const wanted = Object.entries(expected).flatMap(([name, parts]) => [parts].flat().map((part) => ({ name, part })))
  const named = (parts: readonly { name: string }[]): string[] => parts.map(({ name }) => name)
  if (!isDeepStrictEqual(named(wanted), named(received))) return [`The parts are ${named(received).join(', ') || 'none'}; expected ${named(wanted).join(', ')}.`]
  return wanted.flatMap(({ name, part }, index) => received[index] === undefined ? [] : comparePart(name, part, received[index], documents))
}

function comparePart (name: string, part: Part, { body, filename, contentType }: ReceivedPart, documents: Filling['documents']): string[] {
  if (typeof part === 'string') return differs(`part "${name}"`, part, body.toString())
  const type = part.contentType === undefined ? [] : differs(`content type of the part "${name}"`, part.contentType, contentType)
  if ('text' in part) return [...type, ...differs(`part "${name}"`, part.text, body.toString())]
  if ('json' in part) return [...type, ...differs(`part "${name}"`, part.json, parsed(body))]
  const named = part.filename === undefined ? [] : differs(`file name of the part "${name}"`, part.filename, filename)
  return [...type, ...named, ...compareDocument(`The part "${name}"`, part.document, body, documents)]
}

function compareDocument (what: string, pointer: string, body: Buffer, documents: Filling['documents']): string[] {
  const document = documents.get(pointer)
  if (document === undefined) return [`The request has no document at "${pointer}"; it has ${[...documents.keys()].join(', ') || 'none'}.`]
  return document.equals(body) ? [] : [`${what} is not the document at "${pointer}": ${body.byteLength} bytes instead of ${document.byteLength}.`]
}

/** One sentence when a value is not the expected one; `{{any}}` in it stands for any text. */
export function differs (what: string, expected: unknown, actual: unknown): string[] {
  return isSame(expected, actual) ? [] : [`The ${what} is ${textOf(actual)}; expected ${textOf(expected)}.`]
}

function textOf (value: unknown): string {
  return value === undefined ? 'missing' : JSON.stringify(value)
}

function isSame (expected: unknown, actual: unknown): boolean {
  if (typeof expected === 'string' && expected.includes(any)) return typeof actual === 'string' && new RegExp(`^${expected.split(any).map((text) => RegExp.escape(text)).join('[^]+')}$`).test(actual)
  if (!isContainer(expected) || !isContainer(actual) || Array.isArray(expected) !== Array.isArray(actual)) return isDeepStrictEqual(expected, actual)
  const keys = new Set([...Object.keys(expected), ...Object.keys(actual)])
  return [...keys].every((key) => Object.hasOwn(expected, key) && Object.hasOwn(actual, key) && isSame(expected[key], actual[key]))
}

const any = '{{any}}'

function isContainer (value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null
}

function pairsOf (pairs: Readonly<Record<string, string | readonly string[]>> = {}): Record<string, string[]> {
  return Object.fromEntries(Object.entries(pairs).map(([key, value]) => [key, [value].flat()]))
}

function grouped (pairs: readonly (readonly [string, string])[]): Record<string, string[]> {
  const groups = Object.groupBy(pairs, ([key]) => key)
  return Object.fromEntries(Object.entries(groups).map(([key, found = []]) => [key, found.map(([, value]) => value)]))
}

function parsed (body: Buffer): unknown {
  try {
    return JSON.parse(body.toString())
  } catch {
    return body.toString()
  }
}

function shown (body: Buffer): string {
  return JSON.stringify(body.toString().slice(0, 200))
}

