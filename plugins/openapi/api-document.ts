import type { FastifyReply, FastifyRequest } from 'fastify'
import { hash } from 'node:crypto'
import { precompress, type Precompressed, sendPrecompressed } from '../hooks/precompressed.ts'

/** A document of the API, written once. */
export type ApiDocument = Precompressed & { etag: string }

export function apiDocument (value: unknown): ApiDocument {
  const bytes = Buffer.from(JSON.stringify(value))
  return { ...precompress(bytes), etag: `W/"${hash('sha256', bytes, 'base64url').slice(0, 22)}"` }
}

/** Sends it, and not again to who has it (RFC 9110, 13.1.2). */
export function sendApiDocument (
  request: FastifyRequest,
  reply: FastifyReply,
  document: ApiDocument
): FastifyReply | Promise<FastifyReply> {
  const { etag } = document
  reply.headers({ etag, vary: 'accept-encoding', 'cache-control': 'no-cache' })
  if (isKept(request.headers['if-none-match'], etag)) return reply.code(304).send()
  return sendPrecompressed(request, reply.type('application/json; charset=utf-8'), document)
}

/** Weak or strong is the same here: both say what the document is. */
function isKept (ifNoneMatch: string | undefined, etag: string): boolean {
  const kept = (ifNoneMatch ?? '').split(',').map((tag) => tag.trim().replace(/^W\//, ''))
  return kept.includes('*') || kept.includes(etag.replace(/^W\//, ''))
}
