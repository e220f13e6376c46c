import type { DocumentHandle } from '@dispatch/common'
import { hash } from 'node:crypto'
import { Readable } from 'node:stream'
import { RequestFailure } from '../call/request-outcome.ts'
import type { OwnDocuments } from '../files/own-documents.ts'
import { type LeaseCheck, piecesUnderLease } from '../manifest/lease-check.ts'
import { type ArrayFormat, type FormFields, formPairs } from './form.ts'
import { encodeMultipart, type Multipart, type MultipartParts } from './multipart.ts'
import { jsonPieces, lengthOf, type Piece, readPieces } from './pieces.ts'
import { type XmlFields, xmlText } from './xml.ts'

/** The body of a request: at most one of these fields. A document in `json` is sent as the base64 of its bytes. */
export type BodyFields = {
  form?: FormFields
  json?: unknown
  xml?: XmlFields
  text?: string
  multipart?: MultipartParts
  document?: DocumentHandle
  arrays?: ArrayFormat
}

/**
 * A body that can be sent more than once. `length` is in bytes, `sha256` is lowercase hexadecimal. Both are present only where they are
 * known before sending.
 */
export type Body = { contentType?: string, length?: number, sha256?: () => string, open: () => Buffer | Readable | undefined }

/** Opens the bytes of a document. */
export type ReadDocument = (document: DocumentHandle) => Promise<Readable>

/** The documents of the call, and how they are opened. */
export type BodyDocuments = { read: ReadDocument, own: OwnDocuments }

const kinds = ['form', 'json', 'xml', 'text', 'multipart', 'document'] as const

/**
 * Builds a body. A document is not read before `open`, and no byte is sent once `holds` says no. Throws a TypeError when there are two
 * bodies.
 */
export function bodyOf (fields: BodyFields, { read, own }: BodyDocuments, holds: LeaseCheck): Body {
  const given = kinds.filter((kind) => fields[kind] !== undefined)
  if (given.length > 1) throw new TypeError(`A request has one body, not ${given.join(' and ')}.`)
  const { form, json, xml, text, multipart, document, arrays } = fields
  if (form !== undefined) {
    return buffered('application/x-www-form-urlencoded', Buffer.from(String(new URLSearchParams(formPairs(form, arrays)))))
  }
  if (json !== undefined) return ofPieces('application/json', jsonPieces(json, own), read, holds)
  if (xml !== undefined) return buffered('application/xml', Buffer.from(xmlText(xml)))
  if (text !== undefined) return buffered('text/plain; charset=utf-8', Buffer.from(text))
  if (multipart !== undefined) return streamed(encodeMultipart(multipart, own), read, holds)
  if (document !== undefined) {
    return {
      ...streamed({ contentType: document.contentType, length: document.size, pieces: [document] }, read, holds),
      sha256: () => document.sha256
    }
  }
  return { sha256: () => sha256Of(''), open: () => undefined }
}

/** A body without documents is known before it is sent. */
function ofPieces (contentType: string, pieces: readonly Piece[], read: ReadDocument, holds: LeaseCheck): Body {
  const [whole, ...others] = pieces
  return Buffer.isBuffer(whole) && others.length === 0
    ? buffered(contentType, whole)
    : streamed({ contentType, length: lengthOf(pieces), pieces }, read, holds)
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
