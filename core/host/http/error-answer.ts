import type { Json } from '@dispatch/common'
import { at } from '../../services/data.ts'
import type { Line } from '../call/exchanges.ts'
import type { ErrorReading } from '../call/failure.ts'
import { refusalWord, RequestFailure, type RequestOutcome } from '../call/request-outcome.ts'
import { readErrorReply } from './reply.ts'
import type { TransportReply } from './transport.ts'

/** The failure of a request whose answer is no success: its code and message, read where the provider says. */
export async function answeredBadly (
  { errors, keyed, line, now }: { errors: ErrorReading, keyed: boolean, line?: Line | undefined, now: () => Date },
  verdict: Exclude<RequestOutcome, 'done'>,
  reply: TransportReply,
  host: string
): Promise<RequestFailure> {
  const { status } = reply
  const body = await readErrorReply(reply)
  if (line !== undefined && body !== null) line.answer = body
  const code = firstAt(body, errors.at)
  const named = code ?? String(status)
  const mapped = Object.hasOwn(errors.map, named) ? errors.map[named] : undefined
  // An earlier request under the same key may still be running: draft-ietf-httpapi-idempotency-key-header, "Error Handling".
  const says = keyed && status === 409 && mapped === undefined ? 'doubtful' : verdict
  return new RequestFailure(says, firstAt(body, errors.message) ?? `"${host}" answered ${status}${wordsIn(body)}.`, {
    word: mapped ?? refusalWord(status),
    status,
    ...retryAfterOf(reply.headers['retry-after'], now()),
    ...(code !== undefined && { code })
  })
}

/** One day in seconds: the longest wait that a client is asked for. */
const longestWait = 24 * 3600

/** A Retry-After header (RFC 9110, 10.2.3), seconds or a date, as whole seconds from now. */
function retryAfterOf (header: string | string[] | undefined, now: Date): { retryAfter?: number } {
  const text = typeof header === 'string' ? header.trim() : ''
  const seconds = /^\d+$/.test(text) ? Number(text) : Math.ceil((Date.parse(text) - now.getTime()) / 1000)
  return Number.isNaN(seconds) ? {} : { retryAfter: Math.min(Math.max(seconds, 1), longestWait) }
}

/** How many characters of an error's body are shown when the provider does not know where the vendor's message is. */
const longestWords = 500

/** The vendor's own message: JSON or a text. An HTML page for people does not count. */
function wordsIn (body: Json): string {
  if (body === null || (typeof body === 'string' && body.trimStart().startsWith('<'))) return ''
  return `: ${(typeof body === 'string' ? body.trim() : JSON.stringify(body)).slice(0, longestWords)}`
}

function firstAt (body: Json, pointers: string | readonly string[] = []): string | undefined {
  const found = [pointers].flat().map((pointer) => at(body, pointer)).find((value) =>
    typeof value === 'string' || typeof value === 'number'
  )
  return found === undefined ? undefined : String(found)
}
