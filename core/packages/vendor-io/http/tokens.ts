import { type CallProgress, letOut, RequestFailure } from '../outcome/request-outcome.ts'
import type { Connection, Tokens } from './connection.ts'
import type { AccessTokenCache, OAuth2 } from './oauth.ts'
import type { SessionSignIn } from './session.ts'
import { type AllowedHosts, targetOf } from './target.ts'

/** What the tokens of a call come from. `account` identifies the configuration; `connection` is what a person has connected. */
export type TokenSource = {
  accessTokens: AccessTokenCache
  account: string
  connection?: Connection
  targets: AllowedHosts
  progress: CallProgress
  ended: AbortSignal
}

/** The access tokens of an OAuth 2 sign-in, or of a session. Throws a {@link RequestFailure} where there can be none. */
export function tokensOf (
  { accessTokens, account, connection, targets, progress, ended }: TokenSource,
  signIn: OAuth2 | SessionSignIn
): Tokens {
  const requested = (url: string): URL => {
    const target = targetOf(url, targets)
    letOut({ provider: targets.provider, progress, ended }, { host: target.host })
    return target
  }
  if (!('grant' in signIn)) {
    return {
      token: () => accessTokens.open(account, signIn, requested(signIn.url)),
      drop (value) {
        accessTokens.drop(account, signIn, value)
        return Promise.resolve()
      }
    }
  }
  const oauth2 = signIn
  if (oauth2.grant !== 'authorization_code') {
    return {
      token: () => accessTokens.get(account, oauth2, requested(oauth2.tokenUrl)),
      drop (value) {
        accessTokens.drop(account, oauth2, value)
        return Promise.resolve()
      }
    }
  }
  if (connection !== undefined) return connection
  throw new RequestFailure('not done',
    `The provider "${targets.provider}" signs in with an authorization code, but its manifest has no "connect" for these settings.`, {
    ours: true
  })
}
