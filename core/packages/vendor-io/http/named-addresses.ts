import type { Json } from '@dispatch/common'
import type { Redactor } from '../notes/redact.ts'
import { RequestFailure } from '../outcome/request-outcome.ts'
import type { HttpCall } from './call.ts'
import { credentialsOf } from './credentials.ts'
import { type AllowedHosts, isDeclared } from './target.ts'

/**
 * The addresses of one call that its vendor has named in answers, at hosts that the manifest permits for that. Each is good for one request
 * to exactly this address, without a sign-in and without a secret: whoever has such a host needs none.
 */
export type NamedAddresses = {
  /** Notes what a good answer names. `at` is the host that has answered: one that was named itself names no further ones. */
  note: (at: string, ...reported: Json[]) => void
  /** Whether an address was named, and has not been asked yet. */
  has: (url: URL) => boolean
  /** Takes an address for a request. Throws a {@link RequestFailure} for one that would bring a secret there. */
  take: (url: URL, call: HttpCall) => void
}

/** How many addresses of one call are remembered, and the characters of the longest. */
const [maxAddresses, longestAddress] = [100, 8_192]

/**
 * The addresses that vendors name in their answers, and for which requests may be sent without secrets. A call throws a `RequestFailure`
 * where it says more than the vendor has named.
 */
export function createNamedAddresses (
  { provider, named = [], declared, chosen }: AllowedHosts,
  redact: Pick<Redactor, 'text'>
): NamedAddresses {
  const open = new Set<string>()
  const isOwn = (host: string): boolean => isDeclared(host, declared) || chosen.includes(host)

  function noteText (text: string): void {
    const url = text.length <= longestAddress && text.startsWith('https://') ? URL.parse(text.trim()) : null
    if (url === null || open.size >= maxAddresses || isOwn(url.hostname) || !isDeclared(url.hostname, named)) return
    open.add(plain(url))
  }

  function noteAll (reported: Json): void {
    if (typeof reported === 'string') noteText(reported)
    else if (typeof reported === 'object' && reported !== null) { for (const value of Object.values(reported)) noteAll(value) }
  }

  function refusal (url: URL, why: string): RequestFailure {
    return new RequestFailure('not done', `The provider "${provider}" may not call "${url.host}" ${why}`, { ours: true })
  }

  return {
    note (at, ...reported) {
      if (named.length > 0 && isOwn(at)) { for (const value of reported) noteAll(value) }
    },
    has: (url) => open.has(plain(url)),
    take (url, call) {
      if (call.query !== undefined) throw refusal(url, 'with a query of its own: its vendor has named the whole address.')
      const [credential] = credentialsOf(call)
      if (credential !== undefined) {
        throw refusal(url, `with a sign-in (${credential.sent}): its vendor has named it, which signs nobody in.`)
      }
      const reported = JSON.stringify(call)
      if (redact.text(reported) !== reported) {
        throw refusal(url, 'with a secret in the request: its vendor has named it, and needs none there.')
      }
      // The parts of one document go to one address.
      const { part } = call
      if (part === undefined || part.to >= part.document.size) open.delete(plain(url))
    }
  }
}

function plain ({ href, hash }: URL): string {
  return hash === '' ? href : href.slice(0, -hash.length)
}
