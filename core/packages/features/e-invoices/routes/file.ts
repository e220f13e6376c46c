import { DispatchError, refusal } from '@dispatch/contract'
import { largestInvoice } from '@dispatch/einvoice'
import { boundaryOf, decodedBits, readForm } from '@dispatch/plugins/routes'
import type { FastifyRequest } from 'fastify'

/** The types of a body that is the file itself. */
export const fileTypes = ['application/pdf', 'application/xml', 'text/xml', 'application/octet-stream'] as const

const tooLarge = `The file is larger than ${largestInvoice / 1024 / 1024} MiB.`

/** The file in a request: its body, or the one part of a form. */
export async function fileIn ({ raw, headers, mediaType = '' }: FastifyRequest): Promise<Buffer> {
  const { 'content-type': type, 'content-encoding': coding } = headers
  if ((fileTypes as readonly string[]).includes(mediaType)) return bytesOf(limited(decodedBits(raw, coding)))
  const boundary = boundaryOf(type)
  if (boundary === undefined) {
    throw new DispatchError('unsupported_media_type', `An e-invoice comes as ${fileTypes.join(', ')} or multipart/form-data.`)
  }
  if ((coding ?? 'identity').trim().toLowerCase() !== 'identity') {
    throw new DispatchError('unsupported_media_type', 'A form is sent as it is, without "Content-Encoding".')
  }
  let file: Buffer | undefined
  for await (const part of readForm(raw, { boundary, max: 1, tooLarge: `One file is sent. ${tooLarge}` })) {
    if (part.name !== 'file') {
      throw refusal('validation_error', [{
        path: `/${part.name.slice(0, 60)}`,
        code: 'unknown_field',
        message: 'The form has one part: file.'
      }])
    }
    file = await bytesOf(part.bytes(largestInvoice))
  }
  return file ?? absent()
}

async function* limited (bytes: AsyncIterable<Buffer>): AsyncGenerator<Buffer, void> {
  let size = 0
  try {
    for await (const piece of bytes) {
      size += piece.length
      if (size > largestInvoice) throw new DispatchError('payload_too_large', tooLarge)
      yield piece
    }
  } catch (cause) {
    if (cause instanceof DispatchError) throw cause
    throw refusal('validation_error', [{ path: '', code: 'unreadable', message: 'The body cannot be read to its end.' }])
  }
}

async function bytesOf (bytes: AsyncIterable<Buffer>): Promise<Buffer> {
  const whole = Buffer.concat(await Array.fromAsync(bytes))
  return whole.length === 0 ? absent() : whole
}

function absent (): never {
  throw refusal('validation_error', [{ path: '/file', code: 'required', message: 'There is no file.' }])
}
