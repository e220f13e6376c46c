import { MarketplaceRefusal } from '../refusal.ts'

/** What is read of an answer. */
type Answer = {
  status: number
  headers: { get: (name: string) => string | null }
  body: AsyncIterable<Uint8Array> | null
}

/** A guarded network call: it must not follow redirects, and must end when the signal says so. */
export type Fetch = (url: string, init: { redirect: 'manual', headers: Record<string, string>, signal: AbortSignal }) => Promise<Answer>

/** Milliseconds for a whole answer: 8 MiB at 1 Mbit/s take 67 s. */
const timeLimit = 90_000

/**
 * The body at an address: at most `max` bytes, read in full within `limit` milliseconds. `accept`: the kinds of content that are read.
 * Throws a {@link MarketplaceRefusal}.
 */
export async function readAddress (
  url: URL,
  max: number,
  fetch: Fetch,
  { limit = timeLimit, accept }: { limit?: number, accept?: string } = {}
): Promise<Buffer> {
  const ended = new AbortController()
  const timeout = AbortSignal.timeout(limit)
  const signal = AbortSignal.any([timeout, ended.signal])
  try {
    const headers = { 'accept-encoding': 'identity', ...(accept !== undefined && { accept }) }
    const answer = await fetch(url.href, { redirect: 'manual', headers, signal })
    checkStatus(url, answer)
    return await readBody(url, answer, max)
  } catch (cause) {
    throw cause instanceof MarketplaceRefusal ? cause : failed(url, timeout.aborted ? limit : undefined, cause)
  } finally {
    // The connection of an answer that was not read to its end is closed.
    ended.abort()
  }
}

function failed (url: URL, limit: number | undefined, cause: unknown): MarketplaceRefusal {
  if (limit !== undefined) {
    return new MarketplaceRefusal('source_timeout', `${url.href} did not answer in full within ${limit / 1000} seconds.`, { cause })
  }
  const reason = cause instanceof Error ? cause.message : String(cause)
  return new MarketplaceRefusal('source_unavailable', `${url.href} cannot be read: ${reason}.`, { cause })
}

function checkStatus (url: URL, { status, headers }: Answer): void {
  if (status === 200) return
  if (status >= 300 && status < 400) {
    throw new MarketplaceRefusal('source_redirects',
      `${url.href} leads to ${headers.get('location')?.slice(0, 300) ?? 'another address'}. Name the final address.`)
  }
  throw new MarketplaceRefusal('source_unavailable', `${url.href} answers with the status ${status}; expected is 200.`)
}

async function readBody (url: URL, { headers, body }: Answer, max: number): Promise<Buffer> {
  const header = headers.get('content-length')
  const announced = header === null ? undefined : Number(header)
  if (announced !== undefined && announced > max) throw wrongLength(url, `announces ${announced} bytes; at most ${max} are permitted`)
  const chunks: Uint8Array[] = []
  let length = 0
  for await (const chunk of body ?? []) {
    chunks.push(chunk)
    length += chunk.length
    if (length > max) throw wrongLength(url, `sends more than the ${max} bytes that are permitted`)
  }
  const isEncoded = headers.get('content-encoding') !== null
  if (announced !== undefined && !isEncoded && announced !== length) {
    throw wrongLength(url, `announces ${announced} bytes and sends ${length}`)
  }
  return Buffer.concat(chunks)
}

function wrongLength (url: URL, fault: string): MarketplaceRefusal {
  return new MarketplaceRefusal('source_length', `${url.href} ${fault}.`)
}
