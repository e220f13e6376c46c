import { compile, type Fit, type Json, memoizeByIdentity, type Validator } from '@dispatch/common'
import type { Readable } from 'node:stream'
import { createGunzip } from 'node:zlib'
import type { Static, TSchema } from 'typebox'
import { RequestFailure, troubleOf } from '../call/request-outcome.ts'
import type { TransportReply } from './transport.ts'

/** The most bytes of an answer that are read into memory. */
export const largestReply = 5 * 1024 * 1024
/** The most bytes of an error's body that are read. */
const largestErrorReply = 64 * 1024

/** The body of an answer, decompressed. */
export function contentOf ({ headers, body }: TransportReply): Readable {
  if (headers['content-encoding'] !== 'gzip') return body
  const content = createGunzip()
  body.on('error', (error) => content.destroy(error)).pipe(content).on('close', () => body.destroy())
  return content
}

/**
 * An answer as JSON, as a text when it is not JSON, as null when it is empty. Throws a {@link RequestFailure} when it is cut off or too
 * large.
 */
export async function readReply (host: string, reply: TransportReply): Promise<Json> {
  try {
    // Node's parser checks the length of an answer with a Content-Length. The bytes of other answers and of compressed ones are counted
    // here.
    return parse(isShort(reply) ? await reply.body.text() : await read(contentOf(reply), largestReply))
  } catch (error) {
    if (error instanceof RequestFailure) throw error
    throw new RequestFailure('doubtful', `The answer of "${host}" cannot be read: it ${troubleOf(error)}.`, { cause: error })
  }
}

function isShort ({ headers }: TransportReply): boolean {
  return headers['content-encoding'] === undefined && Number(headers['content-length']) <= largestReply
}

/** The readable part of an error's body. It only explains the error, so a broken body counts as an empty one. */
export async function readErrorReply (reply: TransportReply): Promise<Json> {
  return await read(contentOf(reply), largestErrorReply).then(parse, () => null)
}

const checkOf = memoizeByIdentity((schema: TSchema): Validator<unknown> => compile(schema))

/** Checks a reply against the schema. A schema is compiled once. */
export function fitReply<Schema extends TSchema> (schema: Schema, reply: Json): Fit<Static<Schema>> {
  return (checkOf(schema) as Validator<Static<Schema>>)(reply)
}

async function read (content: Readable, limit: number): Promise<string> {
  const pieces: Buffer[] = []
  let size = 0
  for await (const piece of content as AsyncIterable<Buffer>) {
    size += piece.byteLength
    if (size > limit) throw new RequestFailure('doubtful', `The answer is larger than ${limit} bytes.`)
    pieces.push(piece)
  }
  return Buffer.concat(pieces).toString()
}

function parse (text: string): Json {
  if (text.trim() === '') return null
  try {
    return JSON.parse(text) as Json
  } catch {
    return text
  }
}
