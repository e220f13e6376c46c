import { DispatchError, refusal } from '@dispatch/contract'
import { boundaryOf, decodedBits, decodedWords, readForm } from '@dispatch/plugins/routes'
import type { FastifyRequest } from 'fastify'
import { Readable } from 'node:stream'
import { largestFile, type UploadQuery } from '../contract/files.ts'

/** A file as it comes in. */
export type Incoming = { bytes: Readable, filename: string, contentType: string }

const tooLarge = `One file is sent, of ${largestFile / 1024 / 1024} MiB at most.`

/** Hands over the file of a request, its body or the one part of a form, and answers what became of it. */
export async function takeFile<Taken> (
  { raw, headers, mediaType = '', query }: FastifyRequest,
  take: (file: Incoming) => Promise<Taken>
): Promise<Taken> {
  const { 'content-type': type = '', 'content-encoding': coding } = headers
  try {
    const boundary = boundaryOf(type)
    if (boundary !== undefined) {
      requirePlain(coding)
      return await takePart(raw, boundary, take)
    }
    if (mediaType === 'multipart/form-data') throw new DispatchError('unsupported_media_type', 'The form has no boundary.')
    const { filename = 'file' } = query as UploadQuery
    return await take({ bytes: streamOf(limited(decodedBits(raw, coding))), filename, contentType: type })
  } catch (error) {
    throw ownErrorIn(error) ?? error
  }
}

function requirePlain (coding = 'identity'): void {
  if (coding.trim().toLowerCase() === 'identity') return
  throw new DispatchError('unsupported_media_type', 'A form is sent as it is, without "Content-Encoding".')
}

async function takePart<Taken> (raw: Readable, boundary: string, take: (file: Incoming) => Promise<Taken>): Promise<Taken> {
  let taken: { of: Taken } | undefined
  for await (const { name, filename = '', type: contentType, bytes } of readForm(raw, { boundary, max: 1, tooLarge })) {
    if (name !== 'file') {
      throw fault(`/${name.slice(0, 60)}`, 'unknown_field', 'The form has one part: file.')
    }
    const [last = ''] = decodedWords(filename).split(/[\\/]/).slice(-1)
    taken = { of: await take({ bytes: streamOf(bytes(largestFile)), filename: last === '' ? 'file' : last, contentType }) }
  }
  return taken?.of ?? absent()
}

const streamOf = (bytes: AsyncIterable<Buffer>): Readable => Readable.from(bytes, { objectMode: false })

/** The bytes of a body as far as a file may have them: one that is unpacked, too. */
async function* limited (bytes: AsyncIterable<Buffer>): AsyncGenerator<Buffer, void> {
  let size = 0
  try {
    for await (const piece of bytes) {
      size += piece.length
      if (size > largestFile) throw new DispatchError('payload_too_large', tooLarge)
      yield piece
    }
  } catch (cause) {
    if (cause instanceof DispatchError) throw cause
    throw fault('', 'unreadable', 'The body cannot be read to its end.')
  }
}

function absent (): never {
  throw fault('/file', 'required', 'There is no file.')
}

function fault (path: string, code: string, message: string): DispatchError {
  return refusal('validation_error', [{ path, code, message }])
}

/** The error of the request behind that of the storage, which could not take the rest of it. */
function ownErrorIn (error: unknown): DispatchError | undefined {
  for (let cause = error; cause instanceof Error; cause = cause.cause) if (cause instanceof DispatchError) return cause
  return undefined
}
