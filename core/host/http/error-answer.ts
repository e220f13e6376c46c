import type { Json } from '@dispatch/common'
import { at } from '../../services/data.ts'
import type { Line } from '../call/exchanges.ts'
import type { ErrorReading } from '../call/failure.ts'
import { refusalWord, RequestFailure, type RequestOutcome } from '../call/request-outcome.ts'
import { readErrorReply } from './reply.ts'
import { secondsAsked } from './retry-after.ts'
import type { TransportReply } from './transport.ts'

/** `unsafe`: the request changes something at the vendor. */
type Asked = { errors: ErrorReading, keyed: boolean, line?: Line | undefined, now: () => Date, unsafe: boolean }

/** The failure of a request whose answer is no success: its code and message, read where the provider says. */
export async function answeredBadly (
  { errors, keyed, line, now, unsafe }: Asked,
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
  if (status === 403 && code === undefined && mapped === undefined && isPage(body)) {
    // Some firewalls look at what the vendor answers, too: a request that changes something is not sent again.
    return new RequestFailure(unsafe ? 'refused' : 'not done',
      `"${host}" answered 403 with a page for people: a proxy or firewall may stand before the vendor.`, { word: 'provider_error', status })
  }
  // An earlier request under the same key may still be running: draft-ietf-httpapi-idempotency-key-header, "Error Handling".
  const says = keyed && status === 409 && mapped === undefined ? 'uncertain' : verdict
  const retryAfter = secondsAsked(reply.headers['retry-after'], now())
  return new RequestFailure(says, firstAt(body, errors.message) ?? `"${host}" answered ${status}${wordsIn(body)}.`, {
    word: mapped ?? refusalWord(status),
    status,
    ...(retryAfter !== undefined && { retryAfter }),
    ...(code !== undefined && { code })
  })
}

/** How many characters of an error's body are shown when the provider does not know where the vendor's message is. */
const longestWords = 500

/** The vendor's own message: JSON or a text. An HTML page for people does not count. */
function wordsIn (body: Json): string {
  if (body === null || isPage(body)) return ''
  return `: ${(typeof body === 'string' ? body.trim() : JSON.stringify(body)).slice(0, longestWords)}`
}

function isPage (body: Json): boolean {
  return typeof body === 'string' && body.trimStart().startsWith('<')
}

function firstAt (body: Json, pointers: string | readonly string[] = []): string | undefined {
  const found = [pointers].flat().map((pointer) => at(body, pointer)).find((value) =>
    typeof value === 'string' || typeof value === 'number'
  )
  return found === undefined ? undefined : String(found)
}
