import type { DocumentHandle } from '@dispatch/common'
import { hash } from 'node:crypto'
import { Readable } from 'node:stream'
import type { OwnDocuments, ReadDocument } from '../documents/own-documents.ts'
import { jsonPieces, lengthOf, measure, type Piece, readPieces } from '../documents/pieces.ts'
import { type LeaseCheck, piecesUnderLease } from '../outcome/lease-check.ts'
import { RequestFailure } from '../outcome/request-outcome.ts'
import { type ArrayFormat, type FormContents, formPieces } from './form.ts'
import { encodeMultipart, encodeRelated, type Multipart, type MultipartPart, type MultipartParts } from './multipart.ts'
import { type XmlFields, xmlText } from './xml.ts'

/** Bytes of a document, from the one with the number `from` to the one before `to`. */
export type DocumentPart = { document: DocumentHandle, from: number, to: number }

/**
 * The body of a request: at most one of these fields. A document in `json` or `form` is sent as the base64 of its bytes, as `base64` its
 * base64 is the body. `multipart` is a form, `related` has parts without names (RFC 2387). A `part` is sent with its `Content-Range`.
 */
export type BodyFields = {
  form?: FormContents
  json?: unknown
  xml?: XmlFields
  text?: string
  multipart?: MultipartParts
  related?: readonly MultipartPart[]
  document?: DocumentHandle
  base64?: DocumentHandle
  part?: DocumentPart
  arrays?: ArrayFormat
}

/**
 * A body that can be sent more than once. `length` is in bytes, `sha256` is lowercase hexadecimal. Both are present only where they are
 * known before sending; `measure` finds out a length that is not. `headers` are those of the content.
 */
export type Body = {
  contentType?: string
  length?: number
  measure?: () => Promise<number>
  sha256?: () => string
  headers?: Readonly<Record<string, string>>
  open: () => Buffer | Readable | undefined
}

/** The documents of the call, and how they are opened. */
export type BodyDocuments = { read: ReadDocument, own: OwnDocuments }

const kinds = ['form', 'json', 'xml', 'text', 'multipart', 'related', 'document', 'base64', 'part'] as const

/**
 * Builds a body. A document is not read before `open`, and no byte is sent once `holds` says no. Throws a TypeError when there are two
 * bodies.
 */
export function bodyOf (fields: BodyFields, { read, own }: BodyDocuments, holds: LeaseCheck): Body {
  const given = kinds.filter((kind) => fields[kind] !== undefined)
  if (given.length > 1) throw new TypeError(`A request has one body, not ${given.join(' and ')}.`)
  const { form, json, xml, text, multipart, related, document, base64, part, arrays } = fields
  if (form !== undefined) {
    const pieces = formPieces(form, arrays, own)
    return ofPieces('application/x-www-form-urlencoded', pieces, read, holds, () => measure(pieces, read))
  }
  if (json !== undefined) return ofPieces('application/json', jsonPieces(json, own), read, holds)
  if (xml !== undefined) return buffered('application/xml', Buffer.from(xmlText(xml)))
  if (text !== undefined) return buffered('text/plain; charset=utf-8', Buffer.from(text))
  if (multipart !== undefined) return streamed(encodeMultipart(multipart, own), read, holds)
  if (related !== undefined) return streamed(encodeRelated(related, own), read, holds)
  if (document !== undefined) {
    return {
      ...streamed({ contentType: document.contentType, length: document.size, pieces: [document] }, read, holds),
      sha256: () => document.sha256
    }
  }
  if (base64 !== undefined) return ofPieces('text/plain', [{ base64 }], read, holds)
  if (part !== undefined) return ofPart(part, read, holds)
  return { sha256: () => sha256Of(''), open: () => undefined }
}

/** A body without documents is known before it is sent. */
function ofPieces (
  contentType: string,
  pieces: readonly Piece[],
  read: ReadDocument,
  holds: LeaseCheck,
  measured?: () => Promise<number>
): Body {
  const [whole, ...others] = pieces
  return Buffer.isBuffer(whole) && others.length === 0
    ? buffered(contentType, whole)
    : { ...streamed({ contentType, length: lengthOf(pieces), pieces }, read, holds), ...(measured !== undefined && { measure: measured }) }
}

function ofPart ({ document, from, to }: DocumentPart, read: ReadDocument, holds: LeaseCheck): Body {
  const { size, contentType } = document
  if (!Number.isSafeInteger(from) || !Number.isSafeInteger(to) || from < 0 || from >= to || to > size) {
    throw new TypeError(`A document of ${size} bytes has no part from ${from} to before ${to}.`)
  }
  return {
    ...streamed({ contentType, length: to - from, pieces: [{ part: document, from, to }] }, read, holds),
    headers: { 'content-range': `bytes ${from}-${to - 1}/${size}` }
  }
}

function buffered (contentType: string, bytes: Buffer): Body {
  return { contentType, length: bytes.byteLength, sha256: () => sha256Of(bytes), open: () => bytes }
}

function streamed ({ contentType, length, pieces }: Multipart, read: ReadDocument, holds: LeaseCheck): Body {
  return {
    contentType,
    length,
    // A piece is not read before the piece before it has been sent.
    open: () => Readable.from(piecesUnderLease(readable(readPieces(pieces, read)), holds), { objectMode: false, highWaterMark: 1 })
  }
}

/** An unfinished body is an unfinished request, because its Content-Length was announced (RFC 9112, 8). */
async function* readable (pieces: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  try {
    yield* pieces
  } catch (cause) {
    throw new RequestFailure('not done', 'The document to send cannot be read.', { cause, ours: true })
  }
}

function sha256Of (bytes: Buffer | string): string {
  return hash('sha256', bytes)
}
