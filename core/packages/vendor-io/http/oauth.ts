import { lazy } from '@dispatch/common'
import { LRUCache } from 'lru-cache'
import { hash } from 'node:crypto'
import { RequestFailure } from '../outcome/request-outcome.ts'
import { type Jwt, signJwt, usualLifetime } from './jwt.ts'
import { openSession, type Session } from './session.ts'
import { askForToken, clientSignIn, type OAuthClient, type TokenForm } from './token-endpoint.ts'
import type { HttpTransport } from './transport.ts'

/** The assertion of a JWT bearer grant (RFC 7523, 3). */
export type Assertion = Jwt & { issuer: string, audience: string }

/** An OAuth 2 sign-in with the credentials of the settings. `parameters` are further fields of the token request. */
export type CredentialGrant =
  & { tokenUrl: string, scope?: string, audience?: string, parameters?: Readonly<Record<string, string>> }
  & (
    | { grant: 'client_credentials' } & OAuthClient & { clientSecret: string }
    | { grant: 'password', username: string, password: string } & OAuthClient
    | { grant: 'jwt_bearer', assertion: Assertion }
  )

/**
 * An OAuth 2 sign-in; with an authorization code, that of the person who has connected the configuration (`connect` of the provider).
 * `scheme` stands before the token in the header, for vendors that expect another than `Bearer`.
 */
export type OAuth2 = (CredentialGrant | { grant: 'authorization_code' }) & { scheme?: string }

/** The access tokens of this process, and the tokens that it signs itself. */
export type AccessTokenCache = {
  /**
   * The access token of an account (the name of a configuration) for a sign-in. It is cached until shortly before it expires. Concurrent
   * callers share one request to the token endpoint. `cached` tells whether it came from the cache. Throws a {@link RequestFailure}.
   */
  get: (account: string, oauth2: CredentialGrant, tokenUrl: URL) => Promise<{ value: string, cached: boolean }>
  /** The token of a vendor's session, cached in the same way. Throws a {@link RequestFailure}. */
  open: (account: string, session: Session, url: URL) => Promise<{ value: string, cached: boolean }>
  /** A token that is signed here, cached in the same way. Throws a {@link RequestFailure}. */
  sign: (account: string, jwt: Jwt) => Promise<string>
  /** Removes a token that the vendor refused from the cache. */
  drop: (account: string, credentials: CredentialGrant | Session, value: string) => void
}

type Token = { value: string, usableUntil: number }
type Kept = { token: Promise<Token>, settled?: Token }

const maxTokens = 5_000
/** How many seconds before its end a token is renewed; at the latest in the last tenth of its lifetime. */
const margin = 60

/** For how many seconds a token of this lifetime is used. */
export function usableFor (lifetime: number): number {
  return lifetime - Math.min(margin, lifetime / 10)
}

/**
 * Keeps access tokens of vendors until shortly before they expire, and asks for each once at a time. Getting one throws what the vendor's
 * answer means.
 */
export function createAccessTokenCache ({ wire, now }: { wire: Pick<HttpTransport, 'send'>, now: () => Date }): AccessTokenCache {
  const cache = lazy(() => new LRUCache<string, Kept>({ max: maxTokens }))

  function make (key: string, making: Promise<Token>): Promise<Token> {
    const token = making.catch(notYetSent)
    const kept: Kept = { token }
    cache().set(key, kept)
    token.then((settled) => {
      kept.settled = settled
    }, () => {
      if (cache().peek(key) === kept) cache().delete(key)
    })
    return token
  }

  async function keptOr (key: string, begin: () => Promise<Token>): Promise<{ value: string, cached: boolean }> {
    const kept = cache().get(key)
    const usable = kept !== undefined && (kept.settled === undefined || now().getTime() < kept.settled.usableUntil)
    const { value } = await (usable ? kept.token : make(key, begin()))
    return { value, cached: usable }
  }

  return {
    get: (account, oauth2, tokenUrl) => keptOr(keyOf(account, oauth2), () => requestToken(wire, oauth2, tokenUrl, now())),
    open: (account, session, url) =>
      keptOr(keyOf(account, session), async () => tokenFor(await openSession(wire, url, session, now()), session.lifetime, now())),
    async sign (account, jwt) {
      const { value } = await keptOr(keyOf(account, jwt),
        async () => tokenFor(await signJwt(jwt, now()), jwt.lifetime ?? usualLifetime, now()))
      return value
    },
    drop (account, credentials, value) {
      const key = keyOf(account, credentials)
      if (cache().peek(key)?.settled?.value === value) cache().delete(key)
    }
  }
}

/** Whatever the result of the sign-in: the request that needed it has not been sent. */
function notYetSent (error: unknown): never {
  throw error instanceof RequestFailure && error.verdict === 'uncertain'
    ? new RequestFailure('not done', error.message, { cause: error })
    : error
}

/** The credentials are part of the cache key, so that changed settings never use an old token. */
function keyOf (account: string, credentials: CredentialGrant | Jwt | Session): string {
  return hash('sha256', JSON.stringify([account, credentials]))
}

async function requestToken (wire: Pick<HttpTransport, 'send'>, oauth2: CredentialGrant, url: URL, now: Date): Promise<Token> {
  const { value, lifetime } = await askForToken(wire, url, await tokenRequest(oauth2, now))
  return tokenFor(value, lifetime, now)
}

/** `lifetime` is in seconds. */
function tokenFor (value: string, lifetime: number, now: Date): Token {
  return { value, usableUntil: now.getTime() + usableFor(lifetime) * 1000 }
}

/** The form and the headers of a request for a token. Throws a {@link RequestFailure} when an assertion cannot be signed. */
export async function tokenRequest (oauth2: CredentialGrant, now: Date): Promise<TokenForm> {
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
  const owner = oauth2.grant === 'password' ? { username: oauth2.username, password: oauth2.password } : {}
  return clientSignIn(oauth2, { grant_type: oauth2.grant, ...owner, ...shared })
}
