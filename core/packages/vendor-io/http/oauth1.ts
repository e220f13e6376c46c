import { createHmac, randomBytes } from 'node:crypto'
import type { Unsigned } from './sigv4.ts'

/** The credentials of OAuth 1.0a (RFC 5849). `algorithm` is HMAC-SHA1 unless told. */
export type OAuth1 = {
  consumerKey: string
  consumerSecret: string
  token?: string
  tokenSecret?: string
  realm?: string
  algorithm?: 'HMAC-SHA1' | 'HMAC-SHA256'
}

const hashes = { 'HMAC-SHA1': 'sha1', 'HMAC-SHA256': 'sha256' } as const

/** The Authorization header of a request. `form` are the pairs of its body, where that is a form: they are signed, too. */
export function oauth1Header (
  { consumerKey, consumerSecret, token, tokenSecret = '', realm, algorithm = 'HMAC-SHA1' }: OAuth1,
  { method, url }: Pick<Unsigned, 'method' | 'url'>,
  form: readonly (readonly [string, string])[],
  now: Date,
  nonce = randomBytes(16).toString('hex')
): string {
  const fields: [string, string][] = [
    ['oauth_consumer_key', consumerKey],
    ['oauth_nonce', nonce],
    ['oauth_signature_method', algorithm],
    ['oauth_timestamp', String(Math.floor(now.getTime() / 1000))],
    ...token === undefined ? [] : [['oauth_token', token] as [string, string]],
    ['oauth_version', '1.0']
  ]
  const parameters = [...url.searchParams, ...form, ...fields].map(([name, value]) => `${encoded(name)}=${encoded(value)}`)
  const base = [method, `${url.origin}${url.pathname}`, sorted(parameters).join('&')].map(encoded).join('&')
  const key = `${encoded(consumerSecret)}&${encoded(tokenSecret)}`
  const signature = createHmac(hashes[algorithm], key).update(base).digest('base64')
  const reported: [string, string][] = [...realm === undefined ? [] : [['realm', realm] as [string, string]], ...fields]
  return `OAuth ${[...reported, ['oauth_signature', signature] as const].map(([name, value]) => `${name}="${encoded(value)}"`).join(', ')}`
}

/** By name, then by value. */
function sorted (parameters: readonly string[]): string[] {
  return parameters.map((text) => text.split('=')).toSorted(([a = '', b = ''], [c = '', d = '']) => compared(a, c) || compared(b, d)).map(
    (pair) => pair.join('=')
  )
}

function compared (one: string, other: string): number {
  return one < other ? -1 : one > other ? 1 : 0
}

/** RFC 5849, 3.6: all but unreserved characters. */
function encoded (text: string): string {
  return encodeURIComponent(text.toWellFormed()).replaceAll(/[!'()*]/g, (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`)
}
