import type { Json } from '@dispatch/common'
import { askForToken, clientSignIn, type Facts, type HttpTransport, type OAuthClient, revokeToken, usableFor } from '@dispatch/vendor-io'
import { hash } from 'node:crypto'
import { addressOf, type ConnectOf } from '../manifest/connect.ts'

/** A client at its vendor, and what is known of the account. */
export type ConnectedClient = { connect: ConnectOf, client: OAuthClient, facts?: Facts }

/** Tokens that a vendor has issued, and its whole answer. `usableFor`: the seconds for which the access token is used. */
export type VendorTokens = { access: string, refresh?: string, usableFor: number, answer: Json }

/**
 * The address of the vendor's page, which sends the browser back with a code (RFC 6749, 4.1.1; PKCE: RFC 7636, 4.3). Throws a
 * RequestFailure.
 */
export function authorizationUrl (
  { connect, client }: ConnectedClient,
  { redirectUri, state, verifier }: { redirectUri: string, state: string, verifier: string }
): string {
  const url = addressOf(connect, connect.authorizationUrl)
  url.search = String(new URLSearchParams({
    ...connect.parameters,
    response_type: 'code',
    client_id: client.clientId,
    redirect_uri: redirectUri,
    ...(connect.scope !== undefined && { scope: connect.scope }),
    state,
    code_challenge: hash('sha256', verifier, 'base64url'),
    code_challenge_method: 'S256'
  }))
  return url.href
}

/** Exchanges the code for tokens (RFC 6749, 4.1.3). Throws a RequestFailure. */
export function exchangeCode (
  wire: Pick<HttpTransport, 'send'>,
  of: ConnectedClient,
  { code, redirectUri, verifier }: { code: string, redirectUri: string, verifier: string }
): Promise<VendorTokens> {
  return ask(wire, of, of.connect.tokenUrl, {
    grant_type: 'authorization_code',
    code,
    redirect_uri: redirectUri,
    code_verifier: verifier
  })
}

/** Renews the access token (RFC 6749, 6). Throws a RequestFailure. */
export function refreshTokens (wire: Pick<HttpTransport, 'send'>, of: ConnectedClient, refresh: string): Promise<VendorTokens> {
  const { refreshUrl, tokenUrl } = of.connect
  return ask(wire, of, refreshUrl ?? tokenUrl, { grant_type: 'refresh_token', refresh_token: refresh })
}

/**
 * Ends tokens at the vendor (RFC 7009), where it has an address for that: the refresh token, with which the access token ends, or the
 * access token where it is the only one. Throws a RequestFailure.
 */
export async function revokeTokens (
  wire: Pick<HttpTransport, 'send'>,
  { connect, client, facts }: ConnectedClient,
  { access, refresh }: { access: string, refresh?: string }
): Promise<void> {
  if (connect.revocationUrl === undefined) return
  const fields = refresh === undefined
    ? { token: access, token_type_hint: 'access_token' }
    : { token: refresh, token_type_hint: 'refresh_token' }
  await revokeToken(wire, addressOf(connect, connect.revocationUrl, facts), clientSignIn(client, fields))
}

async function ask (
  wire: Pick<HttpTransport, 'send'>,
  { connect, client, facts }: ConnectedClient,
  url: string,
  form: Record<string, string>
): Promise<VendorTokens> {
  const { value, lifetime, refreshToken, answer } = await askForToken(wire, addressOf(connect, url, facts), clientSignIn(client, form))
  return { access: value, usableFor: usableFor(lifetime), answer, ...(refreshToken !== undefined && { refresh: refreshToken }) }
}
