import { type Json, type JsonObject, lazy, textOf } from '@dispatch/common'
import { hash } from 'node:crypto'
import { crc32 } from 'node:zlib'
import { type BodyReading, formFields, multipartFields, parseBody } from './body.ts'
import type { Part, Place, TextEncoding } from './language.ts'

/**
 * A received event: header names in lower case, the body as its bytes. `method`, by default POST. `address`: the URL of the webhook as the
 * vendor knows it, without its query. `query`: as it came, without "?".
 */
export type WebhookRequest = {
  headers: Readonly<Record<string, string | undefined>>
  body: Uint8Array
  method?: string
  address?: string
  query?: string
}

/** What a verifier reads of a request. */
export type EventRequest = {
  request: WebhookRequest
  /** The texts that stand at a place: undefined where nothing does. */
  textsAt: (place: Place) => Promise<string[] | undefined>
  /** The bytes of pieces; undefined where one of them is missing, or could pass for a part of another one. */
  bytesOf: (parts: readonly Part[], known: Known) => Promise<Buffer | undefined>
}

/** The text of the signed time, the settings of the configuration, and where the signature itself stands, which it cannot cover. */
type Known = { time?: string | undefined, settings: JsonObject, own?: Place }

/** The most numbered headers that a vendor sends: Docusign signs with up to a hundred keys. */
const maxNumbered = 100

/** The headers that a name stands for, as the declaration wrote it. */
export function headerNames (header: string): string[] {
  return header.endsWith('*') ? Array.from({ length: maxNumbered }, (_, index) => `${header.slice(0, -1)}${index + 1}`) : [header]
}

/** The content of an event whose form is `query`: what the vendor has put there, without what is ours. */
export function queryContent ({ query = '' }: Pick<WebhookRequest, 'query'>): string {
  return query.split('&').filter((pair) => pair !== '' && !/^account(=|$)/.test(pair)).join('&')
}

/** Reads a request, its body at most once and only where a verifier names a place in it. */
export function readRequest (request: WebhookRequest, reading: BodyReading): EventRequest {
  const content = request.body
  const parsed = lazy(async (): Promise<Json | undefined> => {
    const read = await parseBody(reading, reading.form === 'query' ? Buffer.from(queryContent(request)) : content)
    return read.ok ? read.value : undefined
  })
  const query = lazy(() => new URLSearchParams(request.query ?? ''))

  async function textsAt (place: Place): Promise<string[] | undefined> {
    if ('header' in place) return inHeaders(place, request)
    if ('query' in place) {
      const [text, ...others] = query().getAll(place.query)
      // Given twice, nobody knows which one counts.
      return text === undefined || others.length > 0 ? undefined : [text]
    }
    const body = await parsed()
    const text = body === undefined ? undefined : textOf(body, place.body)
    return text === undefined ? undefined : [text]
  }

  async function named (names: readonly string[] | 'sorted', separator: string): Promise<string | undefined> {
    const fields = names === 'sorted' ? await sortedFields() : await members(names)
    return fields?.map(([name, value]) => `${name}${separator}${value}${separator}`).join('')
  }

  async function sortedFields (): Promise<[string, string][] | undefined> {
    try {
      const fields = reading.form === 'multipart' ? await multipartFields(content) : formFields(content)
      return fields.toSorted(([one, first], [other, second]) => compared(one, other) || compared(first, second))
    } catch {
      return undefined
    }
  }

  async function members (names: readonly string[]): Promise<[string, string][] | undefined> {
    const body = await parsed()
    if (body === undefined) return undefined
    return names.flatMap((name): [string, string][] => {
      const value = scalarIn(body, name)
      return value === undefined ? [] : [[name, value]]
    })
  }

  async function pieceOf (part: Part, known: Known): Promise<string | Uint8Array | undefined> {
    if (typeof part === 'string') {
      const { method = 'POST', address, body } = request
      const requested = queryWithout(request, known.own)
      switch (part) {
        case 'body':
          return body
        case 'time':
          return known.time
        case 'method':
          return method
        case 'address':
          return address === undefined ? undefined : `${address}${requested === '' ? '' : `?${requested}`}`
        case 'address-without-query':
          return address
      }
    }
    if ('text' in part) return part.text
    if ('setting' in part) {
      const value = known.settings[part.setting]
      return typeof value === 'string' ? value : undefined
    }
    if ('named' in part) return await named(part.named, part.separator ?? '')
    if ('hash' in part) {
      const bytes = await bytesOf(part.of, known)
      return bytes === undefined ? undefined : hashed(part, bytes)
    }
    const [text, ...others] = await textsAt(part) ?? []
    return others.length > 0 || text === '' ? undefined : text
  }

  async function bytesOf (parts: readonly Part[], known: Known): Promise<Buffer | undefined> {
    const pieces: Uint8Array[] = []
    for (const [index, part] of parts.entries()) {
      const piece = await pieceOf(part, known)
      if (piece === undefined || isAmbiguous(part, piece, parts[index + 1])) return undefined
      pieces.push(Buffer.from(piece))
    }
    return Buffer.concat(pieces)
  }

  return { request, textsAt, bytesOf }
}

/** The query, without the signature where that stands in it. */
function queryWithout ({ query = '' }: WebhookRequest, own: Place | undefined): string {
  if (own === undefined || !('query' in own)) return query
  return query.split('&').filter((pair) => !new URLSearchParams(pair).has(own.query)).join('&')
}

/** Whether a text of a header or of the query has the constant that follows it: a part of what comes next could pass for it. */
function isAmbiguous (part: Part, piece: string | Uint8Array, next: Part | undefined): boolean {
  if (typeof part !== 'object' || !('header' in part || 'query' in part) || typeof next !== 'object' || !('text' in next)) return false
  return typeof piece === 'string' && next.text !== '' && piece.includes(next.text)
}

function inHeaders (place: Extract<Place, { header: string }>, { headers }: WebhookRequest): string[] | undefined {
  const given = headerNames(place.header).flatMap((name) => headers[name.toLowerCase()] ?? [])
  if (given.every((text) => text === '')) return undefined
  return given.flatMap((text) => piecesOf(text, place))
}

function piecesOf (text: string, { part, separator }: Extract<Place, { header: string }>): string[] {
  if (part === undefined) return separator === undefined ? [text] : text.split(separator)
  const pieces = text.split(separator ?? ',').map((piece) => piece.trim())
  if (typeof part === 'number') return pieces.slice(part, part + 1)
  return [part].flat().flatMap((name) =>
    pieces.filter((piece) => piece.startsWith(`${name}=`)).map((piece) => piece.slice(name.length + 1))
  )
}

function compared (one: string, other: string): number {
  return one < other ? -1 : one > other ? 1 : 0
}

function scalarIn (body: Json, name: string): string | undefined {
  const value = typeof body === 'object' && body !== null && Object.hasOwn(body, name) ? (body as JsonObject)[name] : undefined
  return value === undefined || value === null || typeof value === 'object' ? undefined : String(value)
}

/** A hash of bytes, in the form in which it is signed. */
export function hashed (
  { hash: name, encoding = 'hex' }: { hash: 'sha256' | 'sha512' | 'sha1' | 'md5' | 'crc32', encoding?: TextEncoding | 'bytes' | 'decimal' },
  bytes: Uint8Array
): string | Uint8Array {
  if (name === 'crc32') {
    const sum = crc32(bytes)
    if (encoding === 'decimal') return String(sum)
    const four = Buffer.alloc(4)
    four.writeUInt32BE(sum)
    return encoding === 'bytes' ? four : four.toString(encoding)
  }
  const digest = hash(name, bytes, 'buffer')
  return encoding === 'bytes' ? digest : digest.toString(encoding === 'decimal' ? 'hex' : encoding)
}
