import type { DocumentHandle } from '@dispatch/common'
import { createHash, randomUUID } from 'node:crypto'
import { Readable } from 'node:stream'
import { type DocumentSpool, largestDocument } from './documents/document-spool.ts'
import type { OwnDocuments, ReadDocument } from './documents/own-documents.ts'
import { type Piece, readPieces } from './documents/pieces.ts'
import { failureError } from './outcome/failure.ts'
import { type CallProgress, providerErrorOf, RequestFailure } from './outcome/request-outcome.ts'
import { type Letter, letterOf } from './smtp/compose.ts'
import { checkHeaders } from './smtp/headers.ts'
import type { SmtpMessage } from './smtp/message.ts'

/** `of`: of the bytes of a document, unless told, or of their base64 as a text. */
export type Digest = { algorithm: 'md5' | 'sha1' | 'sha256' | 'sha512', encoding?: 'hex' | 'base64', of?: 'bytes' | 'base64' }

/** What a provider may learn of the documents of its call, and make of them. */
export type Documents = {
  /**
   * An e-mail as a document (`message/rfc822`, RFC 5322), for a vendor that takes it as it is: Bcc stands in it where it has one. With the
   * same `id`, `date` and content it is the same byte for byte.
   */
  compose: (message: SmtpMessage) => Promise<DocumentHandle>
  /** A hash of a document, in `hex` unless told. */
  digest: (document: DocumentHandle, how: Digest) => Promise<string>
  /** The bytes of a document from the one with the number `from` to the one before `to`: at most 1 MiB at a time. */
  bytes: (document: DocumentHandle, from: number, to: number) => Promise<Uint8Array>
  /** Keeps a document that an answer had in base64 (RFC 4648, with or without line breaks). Throws a TypeError where it is none. */
  keep: (document: { base64: string, filename: string, contentType: string }) => Promise<DocumentHandle>
}

type Options = {
  documents: { read: ReadDocument, keep: DocumentSpool['keep'] }
  own: OwnDocuments
  progress: CallProgress
  ended: AbortSignal
}

/** An empty text is no document. */
const writtenInBase64 = /^[A-Za-z0-9+/]+={0,2}$/

/** Bytes. */
const maxBytes = 1024 * 1024

/**
 * The `documents` of one call of a provider's verb, and how all of its documents are read: those that were composed are kept nowhere.
 * Reading throws `provider_unavailable` where a document cannot be read, and a RangeError for too many bytes at a time.
 */
export function createDocuments ({ documents, own, progress, ended }: Options): { documents: Documents, read: ReadDocument } {
  const composed = new Map<string, () => Promise<Readable>>()
  const read: ReadDocument = async (document) => await (composed.get(document.id)?.() ?? documents.read(document))
  const bytesOf = async function* (pieces: readonly Piece[]): AsyncGenerator<Buffer> {
    try {
      yield* readPieces(pieces, read)
    } catch (cause) {
      throw failureError({ word: 'provider_unavailable', message: 'A document of the call cannot be read.', ours: true }, cause)
    }
  }

  async function compose (message: SmtpMessage): Promise<DocumentHandle> {
    checkHeaders(message)
    const letter = letterOf(message, { read, ended })
    const open = (): Promise<Readable> => written(letter)
    const id = randomUUID()
    const document = { id, filename: 'message.eml', contentType: 'message/rfc822', ...await sizeOf(await open()) }
    composed.set(id, open)
    own.add(document)
    return document
  }

  const api: Documents = {
    async compose (message) {
      try {
        return await compose(message)
      } catch (error) {
        throw error instanceof RequestFailure ? providerErrorOf(error, progress, { unsafe: false }) : error
      }
    },
    async digest (named, { algorithm, encoding = 'hex', of = 'bytes' }) {
      const document = own.find(named)
      const hash = createHash(algorithm)
      for await (const piece of bytesOf([of === 'bytes' ? document : { base64: document }])) hash.update(piece)
      return hash.digest(encoding)
    },
    async bytes (named, from, to) {
      const document = own.find(named)
      const isPart = Number.isSafeInteger(from) && Number.isSafeInteger(to) && from >= 0 && from <= to && to <= document.size
      if (!isPart || to - from > maxBytes) {
        throw new RangeError(`Of a document of ${document.size} bytes, at most ${maxBytes} are read at a time: not ${from} to ${to}.`)
      }
      if (from === to) return new Uint8Array()
      return new Uint8Array(Buffer.concat(await Array.fromAsync(bytesOf([{ part: document, from, to }]))))
    },
    async keep ({ base64, filename, contentType }) {
      const text = base64.replaceAll(/\s+/g, '')
      if (!writtenInBase64.test(text)) throw new TypeError('What should be kept as a document is not written in base64.')
      const document = await documents.keep(Readable.from([Buffer.from(text, 'base64')]), { filename, contentType })
      own.add(document)
      return document
    }
  }
  return { documents: api, read }
}

/** A message as it is sent, the same each time that it is read. What writes it is loaded with the first one. */
async function written ({ compose }: Letter): Promise<Readable> {
  const { writeMessage } = await import('./smtp/mailer.ts')
  return writeMessage(compose())
}

async function sizeOf (content: Readable): Promise<{ size: number, sha256: string }> {
  const digest = createHash('sha256')
  let size = 0
  for await (const piece of content as AsyncIterable<Buffer>) {
    size += piece.byteLength
    if (size > largestDocument) {
      throw new RequestFailure('refused', `The e-mail is larger than ${largestDocument} bytes.`, { code: 'message_too_large' })
    }
    digest.update(piece)
  }
  return { size, sha256: digest.digest('hex') }
}
