import { hash } from 'node:crypto'
import { usableFor } from '../http/oauth.ts'
import { askForToken, clientSignIn } from '../http/token-endpoint.ts'
import type { HttpTransport } from '../http/transport.ts'
import { clientOf, type Connect } from '../manifest/connect.ts'

/** The settings of a configuration. */
type Settings = Readonly<Record<string, unknown>>

/** Tokens that a vendor has issued. `usableFor`: the seconds for which the access token is used. */
export type VendorTokens = { access: string, refresh?: string, usableFor: number }

/** The address of the vendor's page, which sends the browser back with a code (RFC 6749, 4.1.1; PKCE: RFC 7636, 4.3). */
export function authorizationUrl (
  connect: Connect,
  settings: Settings,
  { redirectUri, state, verifier }: { redirectUri: string, state: string, verifier: string }
): string {
  const url = new URL(connect.authorizationUrl)
  url.search = String(new URLSearchParams({
    ...connect.parameters,
    response_type: 'code',
    client_id: clientOf(connect, settings).clientId,
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
  connect: Connect,
  settings: Settings,
  { code, redirectUri, verifier }: { code: string, redirectUri: string, verifier: string }
): Promise<VendorTokens> {
  return ask(wire, connect, settings, { grant_type: 'authorization_code', code, redirect_uri: redirectUri, code_verifier: verifier })
}

/** Renews the access token (RFC 6749, 6). Throws a RequestFailure. */
export function refreshTokens (
  wire: Pick<HttpTransport, 'send'>,
  connect: Connect,
  settings: Settings,
  refresh: string
): Promise<VendorTokens> {
  return ask(wire, connect, settings, { grant_type: 'refresh_token', refresh_token: refresh })
}

async function ask (
  wire: Pick<HttpTransport, 'send'>,
  connect: Connect,
  settings: Settings,
  form: Record<string, string>
): Promise<VendorTokens> {
  const { value, lifetime, refreshToken } = await askForToken(wire, new URL(connect.tokenUrl),
    clientSignIn(clientOf(connect, settings), form))
  return { access: value, usableFor: usableFor(lifetime), ...(refreshToken !== undefined && { refresh: refreshToken }) }
}
