import { withDeadline } from '@dispatch/common'
import { RequestFailure } from '../outcome/request-outcome.ts'
import { requestedDelay } from './retry-after.ts'
import type { HttpTransport } from './transport.ts'

/**
 * The result of a request: the HTTP status, or why there was no answer. Nothing of the answer's body is in it. `retryAfter`: for how many
 * seconds the receiver asks to be left alone.
 */
export type ReceiverAnswer = { answered: true, status: number, retryAfter?: number } | { answered: false, reason: string }

/** The time limit in milliseconds for the whole request: name resolution, connection, answer. */
export const receiverLimit = 10_000

/** The most bytes of an answer that are read, so that its connection can be used again. The content is ignored. */
const discarded = 64 * 1024

type TenantPost = { url: string, headers: Record<string, string>, body: string, now: Date, limit?: number }

/**
 * Posts JSON to an address that a tenant chose: https with a verified certificate, only to an address that the guard permits, without
 * redirects. Only the status of the answer counts, and how long it asks to wait. `limit` is in milliseconds.
 */
export async function postToTenant (
  { send }: Pick<HttpTransport, 'send'>,
  { url, headers, body, now, limit = receiverLimit }: TenantPost
): Promise<ReceiverAnswer> {
  const target = URL.parse(url)
  if (target?.protocol !== 'https:') return { answered: false, reason: 'The address is not an https:// URL.' }
  if (target.username !== '' || target.password !== '') return { answered: false, reason: 'The address has a user name or a password.' }
  target.hash = ''
  const bytes = Buffer.from(body)
  const late = new Error(`"${target.host}" did not answer within ${limit / 1000} seconds.`)
  const answer = Promise.withResolvers<ReceiverAnswer>()
  // The status is known before the rest of the answer, which the same deadline bounds. An answer that breaks off still counts as an answer.
  withDeadline(limit, async (signal) => {
    const reply = await send({
      method: 'POST',
      url: target,
      headers: {
        ...headers,
        'content-type': 'application/json',
        'content-length': String(bytes.byteLength),
        'user-agent': 'document-dispatch',
        accept: '*/*'
      },
      body: bytes,
      signal,
      answerWithin: limit
    })
    const { status } = reply
    const retryAfter = requestedDelay(reply.headers['retry-after'], now)
    answer.resolve({ answered: true, status, ...(retryAfter !== undefined && { retryAfter }) })
    await reply.body.dump({ limit: discarded })
  }, late).catch(answer.reject)
  try {
    return await answer.promise
  } catch (error) {
    if (error === late) return { answered: false, reason: late.message }
    if (error instanceof RequestFailure) return { answered: false, reason: error.message }
    throw error
  }
}
