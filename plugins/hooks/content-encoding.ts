import { DispatchError, refusal } from '@dispatch/contract'
import { pipeline, Readable, type Transform } from 'node:stream'
import { promisify } from 'node:util'
import { brotliDecompress, createBrotliDecompress, createGunzip, createInflate, createZstdDecompress, gunzip, inflate, inflateRaw,
  type InputType, type ZlibOptions, zstdDecompress } from 'node:zlib'

type Decode = (bytes: Buffer, options: Pick<ZlibOptions, 'maxOutputLength'>) => Promise<Buffer>

const [inflated, inflatedRaw] = [promisify<InputType, ZlibOptions, Buffer>(inflate), promisify<InputType, ZlibOptions, Buffer>(inflateRaw)]

/** The codings of RFC 9110, 8.4.1, and later ones, by their names in lower case. */
const codings: Readonly<Record<string, Decode>> = {
  gzip: promisify<InputType, ZlibOptions, Buffer>(gunzip),
  'x-gzip': promisify<InputType, ZlibOptions, Buffer>(gunzip),
  deflate: (bytes, options) => (hasZlibHeader(bytes) ? inflated : inflatedRaw)(bytes, options),
  br: (bytes, { maxOutputLength = 0 }) => promisify(brotliDecompress)(bytes, { maxOutputLength }),
  zstd: (bytes, { maxOutputLength = 0 }) => promisify(zstdDecompress)(bytes, { maxOutputLength })
}

/** Some clients leave the format of zlib out, which RFC 9110, 8.4.1.2, tells of. Its header is RFC 1950's, 2.2. */
function hasZlibHeader (bytes: Buffer): boolean {
  return bytes.length >= 2 && bytes.readUInt8() % 16 === 8 && bytes.readUInt16BE() % 31 === 0
}

/** What a server that refuses a coding says that it takes (RFC 9110, 12.5.3). */
export const acceptedEncodings = 'gzip, deflate, br, zstd'

/**
 * A body without its `Content-Encoding`. It may have at most `max` bytes then: a body that is small on the way and large in memory is
 * refused once it is beyond them.
 */
export async function decoded (body: Buffer, encoding: string | undefined, max: number): Promise<Buffer> {
  const name = encoding?.trim().toLowerCase() ?? 'identity'
  if (name === 'identity' || name === '' || body.length === 0) return body
  if (!Object.hasOwn(codings, name)) throw unknownCoding()
  try {
    return await codings[name]?.(body, { maxOutputLength: max }) ?? body
  } catch (cause) {
    if (cause instanceof Error && 'code' in cause && cause.code === 'ERR_BUFFER_TOO_LARGE') {
      throw new DispatchError('payload_too_large', `The body is larger than the limit of ${max / 1024} KiB once it is decoded.`, { cause })
    }
    throw miscoded(name)
  }
}

/** The codings of bodies that are read bit by bit. */
const streams: Readonly<Record<string, () => Transform>> = {
  gzip: createGunzip,
  'x-gzip': createGunzip,
  deflate: createInflate,
  br: createBrotliDecompress,
  zstd: createZstdDecompress
}

/** The same for a body that is read bit by bit; who reads it bounds its size. */
export async function* decodedBits (body: Readable, encoding: string | undefined): AsyncGenerator<Buffer, void> {
  const name = encoding?.trim().toLowerCase() ?? 'identity'
  if (name !== 'identity' && name !== '' && !Object.hasOwn(streams, name)) throw unknownCoding()
  const bits = piecesOf(body)
  const decoder = streams[name]?.()
  if (decoder === undefined) {
    yield* bits
    return
  }
  try {
    // What fails is thrown where it is read.
    yield* pipeline(Readable.from(bits), decoder, () => undefined) as AsyncIterable<Buffer>
  } catch (error) {
    throw body.errored === null ? miscoded(name) : error
  }
}

/** Whoever stops reading can still answer, whatever stopped them: the request goes on. */
async function* piecesOf (body: Readable): AsyncGenerator<Buffer, void> {
  // Not by `yield*`, which would hand an error of the reader on to the body, and end its connection.
  for await (const piece of body.iterator({ destroyOnReturn: false })) yield piece as Buffer
}

function unknownCoding (): DispatchError {
  return new DispatchError('unsupported_media_type',
    `The body is encoded in a way that is not known here: send it as it is, or as one of ${acceptedEncodings}.`)
}

function miscoded (name: string): DispatchError {
  return refusal('validation_error', [{ path: '', code: 'unreadable', message: `The body is no ${name}, as its Content-Encoding says.` }])
}
