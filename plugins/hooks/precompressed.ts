import { lazyUnlessFailed } from '@dispatch/common'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { hash } from 'node:crypto'
import { promisify } from 'node:util'
import { brotliCompress, constants, gzip, type InputType, type ZlibOptions } from 'node:zlib'

const gzipped = promisify<InputType, ZlibOptions, Buffer>(gzip)

/** What bodies are compressed with, the smaller result first. Brotli's own best takes ten times as long for a twelfth less. */
const codings = {
  br: (bytes: Buffer) => promisify(brotliCompress)(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 9 } }),
  gzip: (bytes: Buffer) => gzipped(bytes, { level: 9 })
}
type Coding = keyof typeof codings
const names = Object.keys(codings) as Coding[]

/**
 * A body that is the same for everybody: its bytes, and the same compressed, by each coding when somebody first takes it. What is of one
 * reader is never compressed: its length would tell what is in it (BREACH).
 */
export type Precompressed = { bytes: Buffer, compressed: Readonly<Record<Coding, () => Promise<Buffer>>> }

export function precompress (bytes: Buffer): Precompressed {
  return { bytes, compressed: compressedOf(() => bytes) }
}

/** The same, which is not sent again to who has it. */
export type Tagged = Precompressed & { etag: string }

export function tagged (bytes: Buffer): Tagged {
  return { ...precompress(bytes), etag: etagOf(bytes) }
}

/** One that is made again for whoever takes it as it is: only what is compressed is kept. */
export function taggedOf (make: () => Buffer): Tagged {
  return {
    get bytes () {
      return make()
    },
    compressed: compressedOf(make),
    etag: etagOf(make())
  }
}

function compressedOf (make: () => Buffer): Precompressed['compressed'] {
  return { br: lazyUnlessFailed(() => codings.br(make())), gzip: lazyUnlessFailed(() => codings.gzip(make())) }
}

function etagOf (bytes: Buffer): string {
  return `W/"${hash('sha256', bytes, 'base64url').slice(0, 22)}"`
}

/** Sends it compressed to whoever takes that (RFC 9110, 12.5.3). The type of the content is the caller's. */
export async function sendPrecompressed (
  { headers }: FastifyRequest,
  reply: FastifyReply,
  body: Precompressed
): Promise<FastifyReply> {
  varyByCoding(reply)
  const coding = codingFor(headers['accept-encoding'] ?? '')
  if (coding === undefined) return reply.send(body.bytes)
  const coded = await body.compressed[coding]()
  return reply.header('content-encoding', coding).send(coded)
}

/** The same, and not again to who has it (RFC 9110, 13.1.2). */
export async function sendTagged (request: FastifyRequest, reply: FastifyReply, body: Tagged): Promise<FastifyReply> {
  const { etag } = body
  void reply.headers({ etag, 'cache-control': 'no-cache' })
  if (!isKept(request.headers['if-none-match'], etag)) return sendPrecompressed(request, reply, body)
  varyByCoding(reply)
  return reply.code(304).send()
}

function varyByCoding (reply: FastifyReply): void {
  const given = reply.getHeader('vary')
  void reply.header('vary', given === undefined ? 'accept-encoding' : `${String(given)}, accept-encoding`)
}

/** Weak or strong is the same here: both say what the body is. */
function isKept (ifNoneMatch: string | undefined, etag: string): boolean {
  const kept = (ifNoneMatch ?? '').split(',').map((tag) => tag.trim().replace(/^W\//, ''))
  return kept.includes('*') || kept.includes(etag.replace(/^W\//, ''))
}

/** The coding that is wanted most. `*` stands for all that are not named; a weight of 0 refuses. */
function codingFor (acceptEncoding: string): Coding | undefined {
  const weights = new Map(acceptEncoding.toLowerCase().split(',').map((part) => {
    const [name = '', ...parameters] = part.split(';').map((word) => word.trim())
    return [name === 'x-gzip' ? 'gzip' : name, Number(parameters.find((parameter) => parameter.startsWith('q='))?.slice(2) ?? 1)]
  }))
  const weightOf = (name: Coding): number => weights.get(name) ?? weights.get('*') ?? 0
  return names.filter((name) => weightOf(name) > 0).sort((one, other) => weightOf(other) - weightOf(one))[0]
}
