import { DispatchError } from '../contract/errors.ts'
import type { Account, Accounts, Actor } from './account.ts'
import { readAuthorization } from './authorization.ts'
import type { Credentials } from './credentials.ts'
import { mayImpersonate } from './permissions.ts'
import type { Claims, Holder, Tokens } from './tokens.ts'

/** A token and whose it is. */
export type Session = { token: string, userId: number, companyId: number }

/** Who is it? `header` is the value of an Authorization header. */
export type Authentication = {
  /** Throws `unauthorized` on wrong credentials, `forbidden` on right ones of a disabled account. */
  authenticate: (header: string | undefined) => Promise<Actor>
  /** Throws `forbidden`, with the same words whatever was wrong. */
  login: (email: string, password: string) => Promise<Session>
  /** Throws as `authenticate`. Keeps user, company, impersonator and the time of the login. */
  refresh: (header: string | undefined) => Promise<Session>
}

/** Authenticates by password (Basic) or access token (Bearer), against the accounts as they are at each request. */
export function createAuthentication ({ accounts, credentials, tokens }: {
  accounts: Accounts
  credentials: Credentials
  tokens: Tokens
}): Authentication {
  async function byPassword (email: string, password: string): Promise<Actor> {
    const account = await credentials.verify(email, password)
    if (account === undefined) throw new DispatchError('unauthorized', 'Invalid e-mail or password.')
    return actorOf(enabled(account))
  }

  async function holderOf ({ userId, passwordVersion }: Holder): Promise<Account> {
    const account = await accounts.byId(userId)
    if (account?.passwordVersion !== passwordVersion) throw revoked()
    return enabled(account)
  }

  async function accountOf ({ impersonator, ...claims }: Claims): Promise<Account> {
    const account = await holderOf(claims)
    if (account.companyId !== claims.companyId) throw revoked()
    if (impersonator !== undefined && !mayImpersonate(await holderOf(impersonator), account)) throw revoked()
    return account
  }

  return {
    async authenticate (header) {
      const given = readAuthorization(header)
      if (given.scheme === 'basic') return await byPassword(given.email, given.password)
      const claims = await tokens.verify(given.token)
      return actorOf(await accountOf(claims), claims.impersonator)
    },
    async login (email, password) {
      const account = await credentials.verify(email, password)
      if (account === undefined || account.disabled) throw new DispatchError('forbidden', 'Invalid credentials.')
      return sessionOf(account, await tokens.issue(account))
    },
    async refresh (header) {
      const given = readAuthorization(header)
      if (given.scheme !== 'bearer') throw new DispatchError('unauthorized', 'A refresh needs the header "Authorization: Bearer <access token>".')
      const claims = await tokens.verifyForRefresh(given.token)
      const account = await accountOf(claims)
      return sessionOf(account, await tokens.issue(account, claims))
    }
  }
}

function enabled (account: Account): Account {
  if (account.disabled) throw new DispatchError('forbidden', 'This user is disabled.')
  return account
}

function revoked (): DispatchError {
  return new DispatchError('unauthorized', 'The token is no longer valid: log in again.')
}

function actorOf ({ userId, companyId, email, role, services }: Account, impersonator?: Holder): Actor {
  return { userId, companyId, email, role, services, ...impersonator && { impersonatorId: impersonator.userId } }
}

function sessionOf ({ userId, companyId }: Account, token: string): Session {
  return { token, userId, companyId }
}
