import type { DocumentHandle } from '@dispatch/common'
import { randomUUID } from 'node:crypto'
import type { OwnDocuments } from '../documents/own-documents.ts'
import { jsonPieces, lengthOf, type Piece } from '../documents/pieces.ts'

/** One part of a multipart body. A document may be sent under another name or type than its own. */
export type MultipartPart =
  | string
  | number
  | boolean
  | DocumentHandle
  | { document: DocumentHandle, filename?: string, contentType?: string }
  | { text: string, contentType: string, filename?: string }
  | { json: unknown, contentType?: string }

/** The parts by name, in order. A list becomes several parts of the same name; `undefined` becomes no part. */
export type MultipartParts = Readonly<Record<string, MultipartPart | readonly MultipartPart[] | undefined>>

/** A body whose length is known before it is read. */
export type Multipart = { contentType: string, length: number, pieces: readonly Piece[] }

/** Lays out a form in parts (RFC 7578): the texts to send, and the documents of the call to stream between them. */
export function encodeMultipart (parts: MultipartParts, own: OwnDocuments): Multipart {
  const flat = Object.entries(parts).flatMap(([name, part]) => listOf(part).map((one) => ({ name, ...contentOf(one, own) })))
  return partsOf('multipart/form-data', flat.map(({ content, ...head }) => ({ content, lines: formLines(head) })))
}

/** Lays out parts without names (RFC 2387), of which the first says what the others are. */
export function encodeRelated (parts: readonly MultipartPart[], own: OwnDocuments): Multipart {
  const typed = parts.map((part) => contentOf(part, own)).map(({ content, contentType = 'text/plain; charset=utf-8' }) => ({
    content,
    contentType: typeOf(contentType)
  }))
  const [root] = typed
  if (root === undefined) throw new TypeError('"related" needs a part.')
  return partsOf(`multipart/related; type="${root.contentType.replaceAll('"', '\\"')}"`, typed.map(({ content, contentType }) => ({
    content,
    lines: [`Content-Type: ${contentType}`]
  })))
}

/** `lines`: the headers of a part. */
function partsOf (contentType: string, parts: readonly { content: readonly Piece[], lines: readonly string[] }[]): Multipart {
  const boundary = `dispatch-${randomUUID()}`
  const pieces = [
    ...parts.flatMap(({ content, lines }) => [
      Buffer.from(`--${boundary}\r\n${lines.join('\r\n')}\r\n\r\n`),
      ...content,
      Buffer.from('\r\n')
    ]),
    Buffer.from(`--${boundary}--\r\n`)
  ]
  return { contentType: `${contentType}; boundary=${boundary}`, length: lengthOf(pieces), pieces }
}

type Content = { content: readonly Piece[], filename?: string, contentType?: string }

function contentOf (part: MultipartPart, own: OwnDocuments): Content {
  if (typeof part !== 'object') return { content: [Buffer.from(String(part))] }
  if ('text' in part) {
    const { text, contentType, filename } = part
    return { content: [Buffer.from(text)], contentType, ...(filename !== undefined && { filename }) }
  }
  if ('json' in part) return { content: jsonPieces(part.json, own), contentType: part.contentType ?? 'application/json' }
  const { document, filename, contentType } = 'document' in part ? part : { document: part }
  return { content: [document], filename: filename ?? document.filename, contentType: contentType ?? document.contentType }
}

function formLines ({ name, filename, contentType }: { name: string, filename?: string, contentType?: string }): string[] {
  const file = filename === undefined ? '' : `; filename="${quoted(filename)}"`
  return [
    `Content-Disposition: form-data; name="${quoted(name)}"${file}`,
    ...contentType === undefined ? [] : [`Content-Type: ${typeOf(contentType)}`]
  ]
}

/** The encoding that browsers use (HTML, "multipart/form-data encoding algorithm"). */
function quoted (text: string): string {
  return text.replaceAll('"', '%22').replaceAll('\r', '%0D').replaceAll('\n', '%0A')
}

function typeOf (contentType: string): string {
  if (!/^[\x20-\x7E]+$/.test(contentType)) throw new TypeError(`"${contentType}" is not a content type such as application/pdf.`)
  return contentType
}

function listOf (part: MultipartPart | readonly MultipartPart[] | undefined): readonly MultipartPart[] {
  if (part === undefined) return []
  return isList(part) ? part : [part]
}

function isList (part: MultipartPart | readonly MultipartPart[]): part is readonly MultipartPart[] {
  return Array.isArray(part)
}
