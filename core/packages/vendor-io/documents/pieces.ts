import type { DocumentHandle } from '@dispatch/common'
import { randomUUID } from 'node:crypto'
import type { Readable } from 'node:stream'
import type { OwnDocuments } from './own-documents.ts'

/**
 * A part of a body: bytes, or a document that is streamed as it is, in base64 (RFC 4648, 4), in base64 as a form writes it, or from one
 * byte to before another one.
 */
export type Piece =
  | Buffer
  | DocumentHandle
  | { base64: DocumentHandle }
  | { form: DocumentHandle }
  | { part: DocumentHandle, from: number, to: number }

/** How many bytes the pieces have together; of a document in a form at least. */
export function lengthOf (pieces: readonly Piece[]): number {
  return pieces.reduce((sum, piece) => sum + lengthOfOne(piece), 0)
}

function lengthOfOne (piece: Piece): number {
  if (Buffer.isBuffer(piece)) return piece.byteLength
  if ('part' in piece) return piece.to - piece.from
  const encoded = 'base64' in piece ? piece.base64 : 'form' in piece ? piece.form : undefined
  return encoded === undefined ? (piece as DocumentHandle).size : Math.ceil(encoded.size / 3) * 4
}

/** The bytes of pieces whose length depends on what the documents are: they are read once more for that. */
export async function measure (pieces: readonly Piece[], read: (document: DocumentHandle) => Promise<Readable>): Promise<number> {
  let length = 0
  for await (const piece of readPieces(pieces, read)) length += piece.byteLength
  return length
}

/**
 * The bytes of the pieces in order. A document is opened only when it is next. Throws when a document does not have its announced length.
 */
export async function* readPieces (
  pieces: readonly Piece[],
  read: (document: DocumentHandle) => Promise<Readable>
): AsyncGenerator<Buffer> {
  for (const piece of pieces) {
    if (Buffer.isBuffer(piece)) yield piece
    else if ('base64' in piece) yield* inBase64(exactly(piece.base64, await read(piece.base64)))
    else if ('form' in piece) yield* forForm(inBase64(exactly(piece.form, await read(piece.form))))
    else if ('part' in piece) yield* within(piece, await read(piece.part))
    else yield* exactly(piece, await read(piece))
  }
}

async function* exactly ({ id, size }: DocumentHandle, content: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let left = size
  for await (const piece of content) {
    left -= piece.byteLength
    if (left < 0) break
    yield piece
  }
  if (left !== 0) throw new Error(`The document ${id} is not ${size} bytes long.`)
}

/** The bytes of a part. The stream is read from its beginning, and no further than the end of the part. */
async function* within (
  { part: { id, size }, from, to }: { part: DocumentHandle, from: number, to: number },
  content: AsyncIterable<Buffer>
): AsyncGenerator<Buffer> {
  let at = 0
  for await (const piece of content) {
    const desired = piece.subarray(Math.max(0, from - at), Math.max(0, to - at))
    at += piece.byteLength
    if (desired.byteLength > 0) yield desired
    if (at >= to) return
  }
  throw new Error(`The document ${id} is not ${size} bytes long.`)
}

const signs: Readonly<Record<string, string>> = { '+': '%2B', '/': '%2F', '=': '%3D' }

async function* forForm (content: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  for await (const piece of content) {
    yield Buffer.from(piece.toString('latin1').replaceAll(/[+/=]/g, (sign) => signs[sign] ?? sign), 'latin1')
  }
}

/** Three bytes become four characters: what is left of a piece waits for the next one. */
async function* inBase64 (content: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let left: Buffer = Buffer.alloc(0)
  for await (const piece of content) {
    const bytes = left.byteLength === 0 ? piece : Buffer.concat([left, piece])
    const whole = bytes.byteLength - bytes.byteLength % 3
    if (whole > 0) yield Buffer.from(bytes.toString('base64', 0, whole), 'latin1')
    left = bytes.subarray(whole)
  }
  if (left.byteLength > 0) yield Buffer.from(left.toString('base64'), 'latin1')
}

/** A value as JSON, in which the handles of the call's documents are the base64 of their bytes. */
export function jsonPieces (value: unknown, own: OwnDocuments): Piece[] {
  const found: DocumentHandle[] = []
  // A text that nobody knows beforehand cannot stand in the value.
  const mark = randomUUID()
  const text = JSON.stringify(value, (_key, item: unknown) => {
    if (!own.has(item)) return item
    found.push(item)
    return mark
  })
  const [head = '', ...tails] = text.split(mark)
  return [Buffer.from(head), ...found.flatMap((base64, index) => [{ base64 }, Buffer.from(tails[index] ?? '')])]
}
