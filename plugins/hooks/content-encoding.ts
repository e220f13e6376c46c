import { DispatchError, refusal } from '@dispatch/core'
import { promisify } from 'node:util'
import { brotliDecompress, gunzip, inflate, inflateRaw, type InputType, type ZlibOptions, zstdDecompress } from 'node:zlib'

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
 * A body without its `Content-Encoding`. It may have at most `most` bytes then: a body that is small on the way and large in memory is
 * refused once it is beyond them.
 */
export async function decoded (body: Buffer, encoding: string | undefined, most: number): Promise<Buffer> {
  const name = encoding?.trim().toLowerCase() ?? 'identity'
  if (name === 'identity' || name === '' || body.length === 0) return body
  if (!Object.hasOwn(codings, name)) {
    throw new DispatchError('unsupported_media_type',
      `The body is encoded in a way that is not known here: send it as it is, or as one of ${acceptedEncodings}.`)
  }
  try {
    return await codings[name]?.(body, { maxOutputLength: most }) ?? body
  } catch (cause) {
    if (cause instanceof Error && 'code' in cause && cause.code === 'ERR_BUFFER_TOO_LARGE') {
      throw new DispatchError('payload_too_large', `The body is larger than the limit of ${most / 1024} KiB once it is decoded.`, { cause })
    }
    throw refusal('validation_error', [{ path: '', code: 'unreadable', message: `The body is no ${name}, as its Content-Encoding says.` }])
  }
}
