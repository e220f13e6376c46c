import { withDeadline } from '@dispatch/common'
import { readErrorReply, readReply } from './reply.ts'
import type { HttpTransport } from './transport.ts'

/** Fetches JSON, or a text, over HTTPS. It rejects for any answer but a readable 200. */
export type FetchJson = (url: string) => Promise<unknown>

/** The time limit in milliseconds for the whole answer. */
const answerWithin = 10_000

/**
 * Reads public JSON over HTTPS: no credentials, no redirects, an answer of limited size. Throws an Error for another address, and for an
 * answer that is not 200.
 */
export function createFetchJson ({ transport: wire }: { transport: HttpTransport }): FetchJson {
  return async (address) => {
    const url = new URL(address)
    if (url.protocol !== 'https:') throw new TypeError(`"${url.host}" must be read over https.`)
    return withDeadline(answerWithin, async (signal) => {
      const reply = await wire.send({ method: 'GET', url, headers: { accept: 'application/json' }, signal, answerWithin })
      if (reply.status === 200) return readReply(url.host, reply)
      await readErrorReply(reply)
      throw new Error(`"${url.host}" answered ${reply.status} instead of its keys.`)
    }, new Error(`"${url.host}" did not answer within ${answerWithin / 1000} seconds.`))
  }
}
