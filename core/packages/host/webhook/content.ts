import type { Json, JsonObject } from '@dispatch/common'
import { type XmlFields, xmlText } from '@dispatch/vendor-io'
import { randomUUID } from 'node:crypto'
import { type BodyReading, boundaryOf, formFields, multipartFields } from './body.ts'

/** The content of an event as a vendor writes it, of the data that are read of it. A token is not signed yet. */
export function contentIn ({ form = 'json', json = [] }: BodyReading, data: Json): Buffer {
  switch (form) {
    case 'json':
      return Buffer.from(JSON.stringify(folded(data, json)))
    case 'xml':
      return Buffer.from(xmlText(data as XmlFields))
    case 'token':
      return Buffer.from(['{"alg":"none"}', JSON.stringify(data)].map((part) => Buffer.from(part).toString('base64url')).join('.') + '.')
    case 'multipart':
      return multipartOf(fieldsOf(folded(data, json)), `dispatch-${randomUUID()}`)
    default:
      return Buffer.from(new URLSearchParams(fieldsOf(folded(data, json))).toString())
  }
}

/** The content with a text at a JSON pointer, in place of what stood there. */
export async function withText (
  { form = 'json', json = [] }: BodyReading,
  content: Buffer,
  pointer: string,
  text: string
): Promise<Buffer> {
  if (form === 'json') return Buffer.from(JSON.stringify(put(JSON.parse(content.toString()) as Json, pointer, text, json)))
  if (form === 'xml' || form === 'token') throw new TypeError(`A text cannot be put into ${form}.`)
  const fields = form === 'multipart' ? await multipartFields(content) : formFields(content)
  const folder = json.find((one) => pointer.startsWith(`${one}/`))
  const name = bracketed(folder ?? pointer)
  const before = fields.find(([field]) => field === name)?.[1]
  const value = folder === undefined
    ? text
    : JSON.stringify(put(JSON.parse(before ?? '{}') as Json, pointer.slice(folder.length), text, []))
  const others = before === undefined
    ? [...fields, [name, value] as const]
    : fields.map((pair) => pair[0] === name ? [name, value] as const : pair)
  const pairs = others.map(([field, one]): [string, string] => [field, one])
  return form === 'multipart' ? multipartOf(pairs, boundaryOf(content) ?? 'dispatch') : Buffer.from(new URLSearchParams(pairs).toString())
}

function bracketed (pointer: string): string {
  const [first = '', ...rest] = pointer.split('/').slice(1)
  return first + rest.map((name) => `[${name}]`).join('')
}

function multipartOf (fields: readonly (readonly [string, string])[], boundary: string): Buffer {
  const parts = fields.map(([name, value]) => `--${boundary}\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`)
  return Buffer.from(`${parts.join('')}--${boundary}--\r\n`)
}

/** The fields of a form, with names in brackets for members. */
function fieldsOf (data: Json, name = ''): [string, string][] {
  if (typeof data !== 'object' || data === null) return [[name, data === null ? '' : String(data)]]
  return Object.entries(data as JsonObject).flatMap(([key, value]) => fieldsOf(value, name === '' ? key : `${name}[${key}]`))
}

/** The data with what is read of JSON texts as those texts. */
function folded (data: Json, json: readonly string[]): Json {
  return json.reduce(
    (whole, pointer) =>
      replace(whole, pointer.split('/').slice(1), (value) =>
        value === undefined || typeof value === 'string' ? value : JSON.stringify(value)),
    data
  )
}

/** Puts a text at a pointer, also into a text that is JSON itself. */
function put (data: Json, pointer: string, text: string, json: readonly string[]): Json {
  const folder = json.find((one) => pointer.startsWith(`${one}/`))
  if (folder === undefined) return replace(data, pointer.split('/').slice(1), () => text)
  return replace(data, folder.split('/').slice(1),
    (inner) =>
      JSON.stringify(put(typeof inner === 'string' ? JSON.parse(inner) as Json : inner ?? {}, pointer.slice(folder.length), text, [])))
}

function replace (data: Json, [token, ...rest]: readonly string[], by: (value: Json | undefined) => Json | undefined): Json {
  if (token === undefined) return by(data) ?? data
  if (typeof data !== 'object' || data === null) return data
  if (Array.isArray(data)) return data.map((item: Json, index) => String(index) === token ? replace(item, rest, by) : item)
  const fields = data as JsonObject
  const inner = Object.hasOwn(fields, token) ? fields[token] : undefined
  const changed = rest.length === 0 ? by(inner) : replace(inner ?? {}, rest, by)
  return changed === undefined ? data : { ...fields, [token]: changed }
}
