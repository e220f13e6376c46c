import { type CallProgress, letOut, RequestFailure } from '../call/request-outcome.ts'
import type { Connection } from './connection.ts'
import type { AccessTokenCache, OAuth2 } from './oauth.ts'
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

/** The access tokens of an OAuth 2 sign-in. Throws a {@link RequestFailure} where there can be none. */
export function tokensOf ({ accessTokens, account, connection, targets, progress, ended }: TokenSource, oauth2: OAuth2): Connection {
  if (oauth2.grant !== 'authorization_code') {
    return {
      token () {
        const target = targetOf(oauth2.tokenUrl, targets)
        letOut({ provider: targets.provider, progress, ended }, { host: target.host })
        return accessTokens.get(account, oauth2, target)
      },
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
