import { withDeadline } from '@dispatch/common'
import { LRUCache } from 'lru-cache'
import { hash } from 'node:crypto'
import { Type } from 'typebox'
import { textAt } from '../../services/data.ts'
import { outcomeOfStatus, RequestFailure } from '../call/request-outcome.ts'
import { basicHeader } from './basic-auth.ts'
import { formPairs } from './form.ts'
import { type Jwt, signJwt, usualLifetime } from './jwt.ts'
import { fitReply, readErrorReply, readReply } from './reply.ts'
import type { HttpTransport, TransportReply } from './transport.ts'

/** A client of the token endpoint. Its secret is sent in the header (`basic`, the default) or in the `body`. */
type Client = { clientId: string, clientSecret?: string, clientAuth?: 'basic' | 'body' }

/** The assertion of a JWT bearer grant (RFC 7523, 3). */
export type Assertion = Jwt & { issuer: string, audience: string }

/** An OAuth 2 sign-in. `parameters` are further fields of the token request. */
export type OAuth2 =
  & { tokenUrl: string, scope?: string, audience?: string, parameters?: Readonly<Record<string, string>> }
  & (
    | { grant: 'client_credentials' } & Client & { clientSecret: string }
    | { grant: 'password', username: string, password: string } & Client
    | { grant: 'jwt_bearer', assertion: Assertion }
  )

/** The access tokens of this process, and the tokens that it signs itself. */
export type AccessTokenCache = {
  /**
   * The access token of an account (the name of a configuration) for a sign-in. It is cached until shortly before it expires. Concurrent
   * callers share one request to the token endpoint. `cached` tells whether it came from the cache. Throws a {@link RequestFailure}.
   */
  get: (account: string, oauth2: OAuth2, tokenUrl: URL) => Promise<{ value: string, cached: boolean }>
  /** A token that is signed here, cached in the same way. Throws a {@link RequestFailure}. */
  sign: (account: string, jwt: Jwt) => Promise<string>
  /** Removes a token that the vendor refused from the cache. */
  drop: (account: string, oauth2: OAuth2, value: string) => void
}

type Token = { value: string, usableUntil: number }
type Kept = { token: Promise<Token>, settled?: Token }

const mostTokens = 5_000
/** The time limit in milliseconds for an answer of the token endpoint. */
const answerWithin = 15_000
/** The lifetime in seconds of a token whose answer does not name one. */
const unknownLifetime = 300
/** How many seconds before its end a token is renewed; at the latest in the last tenth of its lifetime. */
const margin = 60

export function createAccessTokenCache ({ wire, now }: { wire: Pick<HttpTransport, 'send'>, now: () => Date }): AccessTokenCache {
  const cache = new LRUCache<string, Kept>({ max: mostTokens })

  function make (key: string, making: Promise<Token>): Promise<Token> {
    const token = making.catch(notYetSent)
    const kept: Kept = { token }
    cache.set(key, kept)
    token.then((settled) => {
      kept.settled = settled
    }, () => {
      if (cache.peek(key) === kept) cache.delete(key)
    })
    return token
  }

  async function keptOr (key: string, begin: () => Promise<Token>): Promise<{ value: string, cached: boolean }> {
    const kept = cache.get(key)
    const usable = kept !== undefined && (kept.settled === undefined || now().getTime() < kept.settled.usableUntil)
    const { value } = await (usable ? kept.token : make(key, begin()))
    return { value, cached: usable }
  }

  return {
    get: (account, oauth2, tokenUrl) => keptOr(keyOf(account, oauth2), () => requestToken(wire, oauth2, tokenUrl, now())),
    async sign (account, jwt) {
      const { value } = await keptOr(keyOf(account, jwt),
        async () => tokenFor(await signJwt(jwt, now()), jwt.lifetime ?? usualLifetime, now()))
      return value
    },
    drop (account, oauth2, value) {
      const key = keyOf(account, oauth2)
      if (cache.peek(key)?.settled?.value === value) cache.delete(key)
    }
  }
}

/** Whatever the result of the sign-in: the request that needed it has not been sent. */
function notYetSent (error: unknown): never {
  throw error instanceof RequestFailure && error.verdict === 'doubtful'
    ? new RequestFailure('not done', error.message, { cause: error })
    : error
}

/** The credentials are part of the cache key, so that changed settings never use an old token. */
function keyOf (account: string, credentials: OAuth2 | Jwt): string {
  return hash('sha256', JSON.stringify([account, credentials]))
}

const TokenReply = Type.Object({
  access_token: Type.String({ minLength: 1 }),
  expires_in: Type.Optional(Type.Union([Type.Number(), Type.String({ pattern: '^\\d+$' })]))
})

async function requestToken (wire: Pick<HttpTransport, 'send'>, oauth2: OAuth2, url: URL, now: Date): Promise<Token> {
  const { fields, headers } = await tokenRequest(oauth2, now)
  const body = Buffer.from(new URLSearchParams(formPairs(fields)).toString())
  const late = new RequestFailure('not done', `"${url.host}" did not answer to the sign-in within ${answerWithin / 1000} seconds.`)
  return withDeadline(answerWithin, async (signal) =>
    tokenOf(url.host, await wire.send({
      method: 'POST',
      url,
      headers: { ...headers, accept: 'application/json', 'content-type': 'application/x-www-form-urlencoded' },
      body,
      signal,
      answerWithin
    }), now), late)
}

/** Reads the token endpoint's answer. Throws a {@link RequestFailure} when there is no token in it. */
async function tokenOf (host: string, reply: TransportReply, now: Date): Promise<Token> {
  const verdict = outcomeOfStatus(reply.status, [])
  if (verdict === 'refused') {
    const error = await readErrorReply(reply)
    const { code = String(reply.status), words = code } = {
      ...textAt(error, '/error', 'code'),
      ...textAt(error, '/error_description', 'words')
    }
    throw new RequestFailure('refused', `"${host}" refused to sign in: ${words}`, {
      word: 'authentication_error',
      code,
      status: reply.status
    })
  }
  if (verdict !== 'done') {
    await reply.body.dump()
    throw new RequestFailure('not done', `"${host}" answered ${reply.status} to the sign-in.`)
  }
  const fit = fitReply(TokenReply, await readReply(host, reply))
  if (!fit.ok) throw new RequestFailure('not done', `"${host}" answered to the sign-in without a token.`)
  return tokenFor(fit.value.access_token, Number(fit.value.expires_in ?? unknownLifetime), now)
}

/** `lifetime` is in seconds. */
function tokenFor (value: string, lifetime: number, now: Date): Token {
  return { value, usableUntil: now.getTime() + (lifetime - Math.min(margin, lifetime / 10)) * 1000 }
}

/** The form and the headers of a request for a token. Throws a {@link RequestFailure} when an assertion cannot be signed. */
export async function tokenRequest (
  oauth2: OAuth2,
  now: Date
): Promise<{ fields: Record<string, string | undefined>, headers: Record<string, string> }> {
  const { scope, audience, parameters } = oauth2
  const shared = { scope, audience, ...parameters }
  if (oauth2.grant === 'jwt_bearer') {
    return {
      headers: {},
      fields: {
        grant_type: 'urn:ietf:params:oauth:grant-type:jwt-bearer',
        assertion: await signJwt(oauth2.assertion, now),
        ...shared
      }
    }
  }
  const { clientId, clientSecret, clientAuth = 'basic' } = oauth2
  const owner = oauth2.grant === 'password' ? { username: oauth2.username, password: oauth2.password } : {}
  const fields = { grant_type: oauth2.grant, ...owner, ...shared }
  // RFC 6749, 2.3.1: user name and password of the header are form-encoded first.
  if (clientSecret !== undefined && clientAuth === 'basic') {
    return { fields, headers: { authorization: basicHeader(formEncoded(clientId), formEncoded(clientSecret)) } }
  }
  return { headers: {}, fields: { ...fields, client_id: clientId, client_secret: clientSecret } }
}

function formEncoded (text: string): string {
  return new URLSearchParams({ _: text }).toString().slice(2)
}
