import type { FastifyReply, FastifyRequest } from 'fastify'
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
export type Precompressed = { bytes: Buffer, compressed: Map<Coding, Promise<Buffer>> }

export function precompress (bytes: Buffer): Precompressed {
  return { bytes, compressed: new Map() }
}

/** Sends it compressed to whoever takes that (RFC 9110, 12.5.3). The type of the content is the caller's. */
export async function sendPrecompressed (
  { headers }: FastifyRequest,
  reply: FastifyReply,
  { bytes, compressed }: Precompressed
): Promise<FastifyReply> {
  void reply.header('vary', 'accept-encoding')
  const coding = codingFor(headers['accept-encoding'] ?? '')
  if (coding === undefined) return reply.send(bytes)
  const coded = compressed.get(coding) ?? codings[coding](bytes)
  compressed.set(coding, coded)
  return reply.header('content-encoding', coding).send(await coded)
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
