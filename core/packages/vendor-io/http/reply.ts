import { compile, type Fit, type Json, memoizeByIdentity, type Validator } from '@dispatch/common'
import type { Readable } from 'node:stream'
import { createGunzip } from 'node:zlib'
import type { Static, TSchema } from 'typebox'
import { RequestFailure, troubleOf } from '../outcome/request-outcome.ts'
import type { TransportReply } from './transport.ts'
import { parseXml } from './xml.ts'

/** How an answer is read: as a text, or as XML; by default as JSON, or as a text where it is none. */
export type ReplyForm = 'text' | 'xml'

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
 * An answer in the form that was asked for, null when it is empty. Throws a {@link RequestFailure} when it is cut off, too large, or no
 * well-formed XML.
 */
export async function readReply (host: string, reply: TransportReply, form?: ReplyForm): Promise<Json> {
  const text = await textOf(host, reply)
  if (form === undefined || text.trim() === '') return parse(text)
  if (form === 'text') return text
  try {
    return parseXml(text)
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause)
    throw new RequestFailure('uncertain', `The answer of "${host}" cannot be read as XML: ${why.slice(0, longestReason)}.`, {
      cause,
      status: reply.status
    })
  }
}

/** Characters of what the parser says. */
const longestReason = 200

async function textOf (host: string, reply: TransportReply): Promise<string> {
  try {
    // Node's parser checks the length of an answer with a Content-Length. The bytes of other answers and of compressed ones are counted
    // here.
    return isShort(reply) ? await reply.body.text() : await read(contentOf(reply), largestReply)
  } catch (error) {
    if (error instanceof RequestFailure) throw error
    throw new RequestFailure('uncertain', `The answer of "${host}" cannot be read: it ${troubleOf(error)}.`, { cause: error })
  }
}

/** The headers of an answer that were asked for, by their names in lower case, and its body. */
export function withHeaders ({ headers }: Pick<TransportReply, 'headers'>, names: readonly string[], body: Json): Json {
  const found = names.map((name) => name.toLowerCase()).flatMap((name) => {
    const value = headers[name]
    return value === undefined ? [] : [[name, [value].flat().join(', ')] as const]
  })
  return { headers: Object.fromEntries(found), body }
}

function isShort ({ headers }: TransportReply): boolean {
  return headers['content-encoding'] === undefined && Number(headers['content-length']) <= largestReply
}

/** The readable part of an error's body, as XML where it says so. It only explains the error, so a broken body counts as an empty one. */
export async function readErrorReply (reply: TransportReply): Promise<Json> {
  const type = String(reply.headers['content-type'] ?? '')
  return await read(contentOf(reply), largestErrorReply).then(xmlType.test(type) ? parseXmlError : parse, () => null)
}

/** RFC 7303; a page for people is none of them. */
const xmlType = /^(application|text)\/(?!xhtml)([\w.-]+\+)?xml\b/i

function parseXmlError (text: string): Json {
  try {
    return parseXml(text)
  } catch {
    return text
  }
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
    if (size > limit) throw new RequestFailure('uncertain', `The answer is larger than ${limit} bytes.`)
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
