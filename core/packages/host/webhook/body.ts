import { at, inspectJson, type Json, type JsonObject } from '@dispatch/common'
import { parseXml } from '@dispatch/vendor-io'
import { isUtf8 } from 'node:buffer'

/**
 * How the content of an event is read. `form`: `application/x-www-form-urlencoded`. `query`: the event is a GET, and its content the query.
 * `token`: the claims of the JSON Web Token that its verifier has verified.
 */
export const bodyForms = ['json', 'form', 'multipart', 'xml', 'query', 'token'] as const
export type BodyForm = typeof bodyForms[number]

/** `json`: JSON pointers of texts that are JSON themselves. */
export type BodyReading = { form?: BodyForm, json?: readonly string[] }

/** The content of an event as plain data, or one sentence that says why it is none. */
export type ParsedBody = { ok: true, value: Json } | { ok: false, reason: string }

/** Fields of a form, and levels of names in brackets: more than any vendor's. */
const maxFields = 10_000
const deepest = 10

/** Reads the content of an event. Nothing of it is trusted. */
export async function parseBody ({ form = 'json', json = [] }: BodyReading, bytes: Uint8Array): Promise<ParsedBody> {
  if (form !== 'multipart' && !isUtf8(bytes)) return { ok: false, reason: 'The body is not UTF-8.' }
  try {
    const value = await readers[form](bytes)
    for (const pointer of json) unfold(value, pointer)
    const [problem] = inspectJson(value)
    return problem === undefined ? { ok: true, value } : { ok: false, reason: `The body does not fit: ${problem.path} ${problem.message}` }
  } catch {
    return { ok: false, reason: `The body is not ${words[form]}.` }
  }
}

const words: Record<BodyForm, string> = {
  json: 'JSON',
  form: 'a form, or one of its texts is not JSON',
  multipart: 'multipart/form-data, or one of its texts is not JSON',
  xml: 'well-formed XML without a document type',
  query: 'a query, or one of its texts is not JSON',
  token: 'a JSON Web Token'
}

const readers: Record<BodyForm, (bytes: Uint8Array) => Json | Promise<Json>> = {
  json: (bytes) => JSON.parse(textOf(bytes)) as Json,
  form: (bytes) => nested(formFields(bytes)),
  query: (bytes) => nested(formFields(bytes)),
  multipart: async (bytes) => nested(await multipartFields(bytes)),
  xml: (bytes) => parseXml(textOf(bytes)),
  token: (bytes) => claimsOf(textOf(bytes))
}

function textOf (bytes: Uint8Array): string {
  return Buffer.from(bytes).toString()
}

/** The claims of a token that was verified, or will be. */
export function claimsOf (token: string): JsonObject {
  const [, payload = ''] = token.split('.')
  return JSON.parse(Buffer.from(payload, 'base64url').toString()) as JsonObject
}

/** The fields of a form in their order. */
export function formFields (bytes: Uint8Array): [name: string, value: string][] {
  return bounded([...new URLSearchParams(textOf(bytes))])
}

/** The texts of a multipart body in their order; files are left out. The boundary is what its first line says. */
export async function multipartFields (bytes: Uint8Array): Promise<[name: string, value: string][]> {
  const boundary = boundaryOf(bytes)
  if (boundary === undefined) throw new TypeError('It does not begin with a boundary.')
  // A bundle has no other name of a CommonJS module that is imported later.
  const { default: { Busboy } } = await import('@fastify/busboy')
  return await new Promise((resolve, reject) => {
    const fields: [string, string][] = []
    const parser = new Busboy({
      headers: { 'content-type': `multipart/form-data; boundary="${boundary}"` },
      limits: { fields: maxFields, fieldSize: bytes.byteLength, fieldNameSize: longestName, headerPairs: 20 }
    })
    parser.on('field', (name, value) => fields.push([name, value]))
    parser.on('file', (_name, file) => file.resume())
    parser.on('fieldsLimit', () => reject(new TypeError('It has too many fields.')))
    parser.on('error', reject)
    parser.on('finish', () => resolve(fields))
    parser.end(Buffer.from(bytes))
  })
}

/** Bytes of the name of a field. */
const longestName = 500

/** RFC 2046, 5.1.1: at most 70 characters, of these. */
export function boundaryOf (bytes: Uint8Array): string | undefined {
  return /^--([\w'()+,./:=? -]{0,69}[\w'()+,./:=?-])\r\n/.exec(Buffer.from(bytes.subarray(0, 80)).toString('latin1'))?.[1]
}

function bounded (fields: [string, string][]): [string, string][] {
  if (fields.length > maxFields) throw new TypeError('It has too many fields.')
  return fields
}

type Branch = Map<string, Node>
type Node = string | Branch

/** Names in brackets are members: `letter[id]` is `id` of `letter`; `ids[]` and a name that comes twice make a list. */
export function nested (fields: readonly (readonly [string, string])[]): Json {
  const root: Branch = new Map()
  const times = new Map<string, number>()
  for (const [name] of fields) times.set(name, (times.get(name) ?? 0) + 1)
  for (const [name, value] of fields) {
    const path = pathOf(name)
    put(root, (times.get(name) ?? 0) > 1 && path.at(-1) !== '' ? [...path, ''] : path, value)
  }
  return Object.fromEntries([...root].map(([name, node]) => [name, valueOf(node)]))
}

function pathOf (name: string): string[] {
  const open = name.indexOf('[')
  if (open <= 0 || !name.endsWith(']')) return [name]
  const inner = name.slice(open + 1, -1).split('][')
  if (inner.some((part) => /[[\]]/.test(part))) return [name]
  if (inner.length > deepest) throw new TypeError('It is too deep.')
  return [name.slice(0, open), ...inner]
}

function put (branch: Branch, [name = '', ...rest]: readonly string[], value: string): void {
  const key = name === '' ? String(branch.size) : name
  if (rest.length === 0) {
    if (branch.has(key)) throw new TypeError('A name stands for two things.')
    branch.set(key, value)
    return
  }
  const below = branch.get(key) ?? new Map<string, Node>()
  if (typeof below === 'string') throw new TypeError('A name stands for two things.')
  branch.set(key, below)
  put(below, rest, value)
}

/** Names that count from 0 make a list. */
function valueOf (node: Node): Json {
  if (typeof node === 'string') return node
  const entries = [...node].map(([name, inner]): [string, Json] => [name, valueOf(inner)])
  return entries.every(([name], index) => name === String(index)) ? entries.map(([, value]) => value) : Object.fromEntries(entries)
}

/** Puts the value of a JSON text in its place. */
function unfold (value: Json, pointer: string): void {
  const [, above = '', last = ''] = /^(.*)\/([^/]*)$/.exec(pointer) ?? []
  const holder = at(value, above)
  if (typeof holder !== 'object' || holder === null || !Object.hasOwn(holder, last)) return
  const text = (holder as JsonObject)[last]
  if (typeof text === 'string') Object.assign(holder, { [last]: JSON.parse(text) as Json })
}
