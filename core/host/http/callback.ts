import { untilAborted } from '@dispatch/common'
import { RequestFailure } from '../call/request-outcome.ts'
import type { HttpTransport } from './transport.ts'

/** What came of a request: the status that was answered, or why there was no answer. Neither has anything of the answer's body. */
export type ReceiverAnswer = { answered: true, status: number } | { answered: false, reason: string }

/** Milliseconds for everything: the name, the connection, the answer. */
export const receiverLimit = 10_000

/** Bytes of an answer that are taken for the sake of its connection; nobody reads them. */
const discarded = 64 * 1024

/**
 * Posts JSON to an address that a tenant chose: https, a verified certificate, an address that the guard permits, no redirects.
 * Only the status of the answer counts. `limit` in milliseconds.
 */
export async function postToTenant (
  { send }: Pick<HttpTransport, 'send'>,
  { url, headers, body, limit = receiverLimit }: { url: string, headers: Record<string, string>, body: string, limit?: number }
): Promise<ReceiverAnswer> {
  const target = URL.parse(url)
  if (target?.protocol !== 'https:') return { answered: false, reason: 'The address is no https:// URL.' }
  if (target.username !== '' || target.password !== '') return { answered: false, reason: 'The address has a user name or a password.' }
  target.hash = ''
  const bytes = Buffer.from(body)
  const signal = AbortSignal.timeout(limit)
  try {
    const sent = send({
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
    // The library looks at the signal once it has a connection, and may wait for that as long as it likes.
    const reply = await untilAborted(signal, sent, new Error('It took too long.'))
    // The signal ends what is left of it; an answer that breaks off has been an answer.
    void reply.body.dump({ limit: discarded })
    return { answered: true, status: reply.status }
  } catch (error) {
    if (signal.aborted) return { answered: false, reason: `"${target.host}" did not answer within ${limit / 1000} seconds.` }
    if (error instanceof RequestFailure) return { answered: false, reason: error.message }
    throw error
  }
}
