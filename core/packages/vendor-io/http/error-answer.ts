import { at, isRecord, type Json, type JsonObject, placesAt } from '@dispatch/common'
import type { Line } from '../notes/exchanges.ts'
import type { Redactor } from '../notes/redact.ts'
import type { ErrorPlace, ErrorReading } from '../outcome/failure.ts'
import { refusalWord, RequestFailure, type RequestOutcome } from '../outcome/request-outcome.ts'
import { readErrorReply } from './reply.ts'
import { requestedDelay } from './retry-after.ts'
import type { TransportReply } from './transport.ts'

/** Whether an error's answer proves that the vendor did nothing. */
export type ProvesRefusal = (status: number, body: Json) => boolean

/** `unsafe`: the request changes something at the vendor. */
type Requested = {
  errors: ErrorReading
  keyed: boolean
  line?: Line | undefined
  now: () => Date
  provesRefusal: ProvesRefusal
  redact: Pick<Redactor, 'text' | 'json'>
  unsafe: boolean
}

/** The failure of a request whose answer is no success: its code and message, read where the provider says. */
export async function answeredBadly (
  { errors, keyed, line, now, provesRefusal, redact, unsafe }: Requested,
  verdict: Exclude<RequestOutcome, 'done'>,
  reply: TransportReply,
  host: string
): Promise<RequestFailure> {
  const { status } = reply
  const body = await readErrorReply(reply)
  if (line !== undefined && body !== null) line.answer = body
  const code = codeOf(reply, body, errors.at)
  const named = code ?? String(status)
  const mapped = Object.hasOwn(errors.map, named) ? errors.map[named] : undefined
  if (status === 403 && code === undefined && mapped === undefined && isPage(body)) {
    // Some firewalls look at what the vendor answers, too: a request that changes something is not sent again.
    return new RequestFailure(unsafe ? 'refused' : 'not done',
      `"${host}" answered 403 with a page for people: a proxy or firewall may stand before the vendor.`, { word: 'provider_error', status })
  }
  // An earlier request under the same key may still be running: draft-ietf-httpapi-idempotency-key-header, "Error Handling".
  const said = keyed && status === 409 && mapped === undefined ? 'uncertain' : verdict
  const says = said === 'uncertain' && provesRefusal(status, body) ? 'refused' : said
  const retryAfter = requestedDelay(reply.headers['retry-after'], now())
  return new RequestFailure(says, messageOf(body, errors.message) ?? `"${host}" answered ${status}${wordsIn(body)}.`, {
    word: mapped ?? refusalWord(status),
    status,
    ...(retryAfter !== undefined && { retryAfter }),
    ...(code !== undefined && { code }),
    ...(body !== null && { body: shown(body, redact) })
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

/** The most characters of an error's body that a provider gets. */
const longestBody = 8_192

/** The body of an error without secrets: as it is, or the beginning of its text. */
function shown (body: Json, { text, json }: Pick<Redactor, 'text' | 'json'>): Json {
  const whole = typeof body === 'string' ? body : JSON.stringify(body)
  return whole.length <= longestBody ? json(body) : text(whole).slice(0, longestBody)
}

function codeOf ({ headers }: TransportReply, body: Json, pointers: ErrorPlace | readonly ErrorPlace[] = []): string | undefined {
  const found = [pointers].flat().map((place) => typeof place === 'string' ? at(body, place) : headers[place.header.toLowerCase()])
  return found.map(wordOf).find((code) => code !== undefined)
}

/** What a vendor says: the first text that stands at a pointer, or all that stand where it has a `*`. */
function messageOf (body: Json, pointers: string | readonly string[] = []): string | undefined {
  return [pointers].flat().map((pointer) => pointer.includes('*') ? allAt(body, pointer) : wordOf(at(body, pointer))).find((words) =>
    words !== undefined
  )
}

/** All texts at a pointer with a `*`, each after the name of its field. */
function allAt (body: Json, pointer: string): string | undefined {
  if (!isRecord(body) && !Array.isArray(body)) return undefined
  const tokens = pointer.split('/')
  const words = placesAt(body as JsonObject, pointer).flatMap(({ path, value }) => {
    const name = path.split('/').findLast((token, index) => tokens[index] === '*' && !/^\d+$/.test(token))
    const said = [value].flat().map(wordOf).filter((word) => word !== undefined).join(' ')
    return said === '' ? [] : [name === undefined ? said : `${name}: ${said}`]
  })
  return words.length === 0 ? undefined : words.join(' ')
}

function wordOf (value: unknown): string | undefined {
  return typeof value === 'string' || typeof value === 'number' ? String(value) : undefined
}
