import type { FastifyReply, FastifyRequest } from 'fastify'
import { hash } from 'node:crypto'
import { gzipSync } from 'node:zlib'

/** A JSON document that is the same for everybody, written once: as it is, and compressed. */
export type PrecompressedJson = { plain: Buffer, gzipped: Buffer, etag: string }

export function precompressJson (value: unknown): PrecompressedJson {
  const plain = Buffer.from(JSON.stringify(value))
  return { plain, gzipped: gzipSync(plain, { level: 9 }), etag: `W/"${hash('sha256', plain, 'base64url').slice(0, 22)}"` }
}

/** Sends it compressed to whoever takes that, and not again to who has it (RFC 9110, 12.5.3 and 13.1.2). */
export function sendPrecompressedJson (
  { headers }: FastifyRequest,
  reply: FastifyReply,
  { plain, gzipped, etag }: PrecompressedJson
): FastifyReply {
  reply.headers({ etag, vary: 'accept-encoding', 'cache-control': 'no-cache' })
  if (isKept(headers['if-none-match'], etag)) return reply.code(304).send()
  reply.type('application/json; charset=utf-8')
  return takesGzip(headers['accept-encoding'] ?? '') ? reply.header('content-encoding', 'gzip').send(gzipped) : reply.send(plain)
}

/** Weak or strong is the same here: both say what the document is. */
function isKept (ifNoneMatch: string | undefined, etag: string): boolean {
  const kept = (ifNoneMatch ?? '').split(',').map((tag) => tag.trim().replace(/^W\//, ''))
  return kept.includes('*') || kept.includes(etag.replace(/^W\//, ''))
}

/** `gzip`, or `*` for all that are not named; a weight of 0 refuses. */
function takesGzip (acceptEncoding: string): boolean {
  const weights = new Map(acceptEncoding.toLowerCase().split(',').map((part) => {
    const [name = '', ...parameters] = part.split(';').map((word) => word.trim())
    return [name, Number(parameters.find((parameter) => parameter.startsWith('q='))?.slice(2) ?? 1)]
  }))
  return (weights.get('gzip') ?? weights.get('x-gzip') ?? weights.get('*') ?? 0) > 0
}
