import { DispatchError } from '../contract/errors.ts'
import type { Account, Accounts, Actor } from './account.ts'
import { digestOf, isMeantAsKey, isWellFormed } from './api-key.ts'
import { readAuthorization } from './authorization.ts'
import type { BruteForceGuard } from './brute-force-guard.ts'
import type { Credentials } from './credentials.ts'
import { isAddressAllowed } from './networks.ts'
import { mayImpersonate, requirePerson, requireRole } from './permissions.ts'
import type { Claims, Tokens, TokenSubject } from './tokens.ts'

/** An access token and its user. */
export type Session = { token: string, userId: number, companyId: number }

/** Authenticates requests. `header` is the value of the Authorization header, `address` the client's IP address. */
export type Authentication = {
  /**
   * Throws `unauthorized` for wrong credentials, and `forbidden` for right ones if the account is disabled or the company's list does not
   * allow the address.
   */
  authenticate: (header: string | undefined, address: string) => Promise<Actor>
  /** Throws `forbidden`, with the same message for every reason. */
  login: (email: string, password: string, address: string) => Promise<Session>
  /** Issues a new token with the same user, company, impersonator and login time. Throws as `authenticate`. */
  refresh: (header: string | undefined, address: string) => Promise<Session>
  /**
   * Starts a session in which the actor acts as another user. Throws `not_found` for a user of another company (operators may act in any),
   * and `forbidden` for a user whom the actor may not impersonate.
   */
  impersonate: (actor: Actor, userId: number) => Promise<Session>
}

/** An API key as authentication needs it; the store's record has more fields. */
export type KeyCredential = { keyId: string, userId: number, mode: 'live' | 'test', services?: readonly string[], expiresAt?: Date }
export type KeyLookup = { find: (digest: Buffer) => Promise<KeyCredential | undefined>, noteUse: (keyId: string) => void }

type Options = {
  accounts: Accounts
  credentials: Credentials
  tokens: Tokens
  keys: KeyLookup
  bruteForceGuard?: BruteForceGuard | undefined
  now: () => Date
}

/**
 * Creates authentication by password (Basic), access token (Bearer) or API key (Bearer, or Basic with an empty password). Each request
 * reads the current account.
 */
export function createAuthentication ({ accounts, credentials, tokens, keys, bruteForceGuard, now }: Options): Authentication {
  async function byPassword (email: string, password: string, address: string): Promise<Actor> {
    const account = await credentials.verify(email, password, address)
    if (account === undefined) throw new DispatchError('unauthorized', 'Invalid e-mail or password.')
    return actorOf(admitted(account, address))
  }

  async function byToken (token: string, address: string): Promise<Actor> {
    const claims = await tokens.verify(token)
    return actorOf(await accountOf(claims, address), claims.impersonator)
  }

  async function byKey (secret: string, address: string): Promise<Actor> {
    if (!isWellFormed(secret)) throw new DispatchError('unauthorized', 'The API key is mistyped or cut off: its checksum does not fit.')
    const key = await keys.find(digestOf(secret))
    const account = key === undefined || (key.expiresAt !== undefined && key.expiresAt <= now())
      ? undefined
      : await accounts.byId(key.userId)
    if (key === undefined || account === undefined) {
      await bruteForceGuard?.countUnknownKey(address)
      throw new DispatchError('unauthorized', 'The API key is unknown, expired or revoked.')
    }
    const actor = actorOf(admitted(account, address))
    keys.noteUse(key.keyId)
    return actingFor(actor, key)
  }

  async function holderOf ({ userId, passwordVersion }: TokenSubject, address: string): Promise<Account> {
    const account = await accounts.byId(userId)
    if (account?.passwordVersion !== passwordVersion) throw revoked()
    return admitted(account, address)
  }

  async function accountOf ({ impersonator, ...claims }: Claims, address: string): Promise<Account> {
    const account = await holderOf(claims, address)
    if (account.companyId !== claims.companyId) throw revoked()
    if (impersonator !== undefined && !mayImpersonate(await holderOf(impersonator, address), account)) throw revoked()
    return account
  }

  return {
    async authenticate (header, address) {
      const given = readAuthorization(header)
      if (given.scheme === 'bearer') return isMeantAsKey(given.token) ? byKey(given.token, address) : byToken(given.token, address)
      return given.password === '' && isMeantAsKey(given.email)
        ? byKey(given.email, address)
        : byPassword(given.email, given.password, address)
    },
    async login (email, password, address) {
      const account = await credentials.verify(email, password, address)
      if (account === undefined || account.disabled || !isAddressAllowed(account.addresses, address)) {
        throw new DispatchError('forbidden', 'Invalid credentials.')
      }
      return sessionOf(account, await tokens.issue(account))
    },
    async refresh (header, address) {
      const given = readAuthorization(header)
      if (given.scheme !== 'bearer') {
        throw new DispatchError('unauthorized', 'A refresh needs the header "Authorization: Bearer <access token>".')
      }
      const claims = await tokens.verifyForRefresh(given.token)
      const account = await accountOf(claims, address)
      return sessionOf(account, await tokens.issue(account, claims))
    },
    async impersonate (actor, userId) {
      requirePerson(actor)
      requireRole(actor, 'admin', 'operator')
      if (actor.impersonatorId !== undefined) {
        throw new DispatchError('forbidden', 'A user who already acts as another user cannot act as a third one: use your own token.')
      }
      const [impersonator, account] = [await accounts.byId(actor.userId), await accounts.byId(userId)]
      const isForeign = actor.role !== 'operator' && account?.companyId !== actor.companyId
      if (impersonator === undefined || account === undefined || isForeign) {
        throw new DispatchError('not_found', `There is no user ${userId}.`)
      }
      if (userId === actor.userId || account.disabled || !mayImpersonate(actor, account)) {
        throw new DispatchError('forbidden',
          'You can act as another user who is not disabled, whose role is not above your own, and who has no services that ' +
            'they do not have.')
      }
      return sessionOf(account, await tokens.issue(account, { impersonator }))
    }
  }
}

/** Throws for a disabled account, and for an address that the company's list does not allow. The message reveals nothing of the list. */
function admitted (account: Account, address: string): Account {
  if (account.disabled) {
    throw new DispatchError('forbidden', 'This user, or their company, is disabled: ask an administrator of the company, or the operator.')
  }
  if (!isAddressAllowed(account.addresses, address)) {
    throw new DispatchError('forbidden', 'The company does not permit requests from this address.')
  }
  return account
}

function revoked (): DispatchError {
  return new DispatchError('unauthorized', 'The token is no longer valid: log in again.')
}

function actorOf ({ userId, companyId, email, role, services }: Account, impersonator?: TokenSubject): Actor {
  return { userId, companyId, email, role, services, ...impersonator && { impersonatorId: impersonator.userId } }
}

/** A program has the services that both its key and its user have. A test key, which is stored in more places, has the role `member`. */
function actingFor (actor: Actor, { keyId, mode, services }: KeyCredential): Actor {
  const both = services === undefined || actor.services.includes('*')
    ? services ?? actor.services
    : services.filter((service) => actor.services.includes(service))
  return { ...actor, services: both, role: mode === 'test' ? 'member' : actor.role, key: { id: keyId, mode } }
}

function sessionOf ({ userId, companyId }: Account, token: string): Session {
  return { token, userId, companyId }
}
