import { DispatchError, type KeyMode, type KeyScope } from '@dispatch/contract'
import type { Account, Accounts, Actor, Person } from './account.ts'
import { digestOf, isMeantAsKey, isWellFormed } from './api-key.ts'
import { readAuthorization } from './authorization.ts'
import type { BruteForceGuard } from './brute-force-guard.ts'
import type { Credentials } from './credentials.ts'
import { isAddressAllowed } from './networks.ts'
import { mayImpersonate, requirePerson, requireRole } from './permissions.ts'
import type { Claims, Tokens, TokenSubject } from './tokens.ts'
import type { UnknownSecrets } from './unknown-secrets.ts'

/** An access token and its user. */
export type Session = { token: string, userId: number, companyId: number }

/** Authenticates requests. `header` is the value of the Authorization header, `address` the client's IP address. */
export type Authentication = {
  /**
   * Throws `unauthorized` for wrong credentials, and `forbidden` for right ones if the account is disabled or the company's list does not
   * allow the address.
   */
  authenticate: (header: string | undefined, address: string) => Promise<Actor>
  /**
   * The account with this e-mail address and password, which is the first factor alone. Throws `forbidden`, with the same message for every
   * reason.
   */
  checkPassword: (email: string, password: string, address: string) => Promise<Account>
  /** Throws as `checkPassword`, and then `forbidden` for a user whose second factor needs a code, if there is none or a wrong one. */
  login: (email: string, password: string, address: string, code?: string) => Promise<Session>
  /** Issues a new token with the same user, company, impersonator and time of the proof. Throws as `authenticate`. */
  refresh: (header: string | undefined, address: string) => Promise<Session>
  /**
   * Starts a session in which the actor acts as another user, with the time of the actor's own proof. Throws `not_found` for a user of
   * another company (operators may act in any), and `forbidden` for a user whom the actor may not impersonate.
   */
  impersonate: (actor: Actor, userId: number) => Promise<Session>
}

/** An API key as authentication needs it; the store's record has more fields. */
export type KeyCredential = {
  keyId: string
  userId: number
  mode: KeyMode
  scopes: readonly KeyScope[]
  services?: readonly string[]
  expiresAt?: Date
}
export type KeyLookup = { find: (digest: Buffer) => Promise<KeyCredential | undefined>, noteUse: (keyId: string) => void }

/** Whether this is a code of the user's second factor; it is used up. */
type CodeCheck = (account: Account, code: string, address: string) => Promise<boolean>

type Options = {
  accounts: Accounts
  credentials: Credentials
  tokens: Tokens
  keys: KeyLookup
  unknownSecrets: UnknownSecrets
  secondFactors: { verify: CodeCheck }
  bruteForceGuard?: BruteForceGuard | undefined
  now: () => Date
}

/**
 * Creates authentication by password (Basic), access token (Bearer) or API key (Bearer, or Basic with an empty password). Each request
 * reads the current account. For users with a second factor the password alone is refused: Basic has no place for a code.
 */
export function createAuthentication ({ accounts, credentials, tokens, keys, unknownSecrets, secondFactors, bruteForceGuard, now }:
  Options): Authentication
{
  async function byPassword (email: string, password: string, address: string): Promise<Actor> {
    const account = await credentials.verify(email, password, address)
    if (account === undefined) throw new DispatchError('unauthorized', 'Invalid e-mail or password.')
    if (admitted(account, address).secondFactor) throw codeNeeded()
    return { ...personOf(account), provedAt: now(), passwordVersion: account.passwordVersion }
  }

  async function byToken (token: string, address: string): Promise<Actor> {
    const claims = await tokens.verify(token)
    const { account, impersonator } = await accountsOf(claims, address)
    return { ...personOf(account, impersonator), provedAt: claims.provedAt, passwordVersion: account.passwordVersion }
  }

  async function byKey (secret: string, address: string): Promise<Actor> {
    if (!isWellFormed(secret)) throw new DispatchError('unauthorized', 'The API key is mistyped or cut off: its checksum does not fit.')
    const key = await unknownSecrets.find(digestOf(secret), address, keys.find)
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

  async function accountsOf (claims: Claims, address: string): Promise<{ account: Account, impersonator?: Account }> {
    const account = await holderOf(claims, address)
    if (account.companyId !== claims.companyId) throw revoked()
    if (claims.impersonator === undefined) return { account }
    const impersonator = await holderOf(claims.impersonator, address)
    if (!mayImpersonate(impersonator, account)) throw revoked()
    return { account, impersonator }
  }

  async function checkPassword (email: string, password: string, address: string): Promise<Account> {
    const account = await credentials.verify(email, password, address)
    if (account === undefined || account.disabled || !isAddressAllowed(account.addresses, address)) {
      throw new DispatchError('forbidden', 'Invalid credentials.')
    }
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
    checkPassword,
    async login (email, password, address, code) {
      const account = await checkPassword(email, password, address)
      if (account.secondFactor) {
        if (code === undefined) throw codeNeeded()
        if (!await secondFactors.verify(account, code, address)) throw wrongCode()
      }
      return sessionOf(account, await tokens.issue(account))
    },
    async refresh (header, address) {
      const given = readAuthorization(header)
      if (given.scheme !== 'bearer') {
        throw new DispatchError('unauthorized', 'A refresh needs the header "Authorization: Bearer <access token>".')
      }
      const claims = await tokens.verifyForRefresh(given.token)
      const { account } = await accountsOf(claims, address)
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
      return sessionOf(account, await tokens.issue(account, { impersonator, provedAt: actor.provedAt ?? new Date(0) }))
    }
  }
}

/** The refusal of a password alone. */
function codeNeeded (): DispatchError {
  return new DispatchError('forbidden',
    'This user has a second factor, so the password alone is refused: use an API key, or log in with POST /auth and send a code as "totp".')
}

/** The refusal of a code after a right password. */
export function wrongCode (): DispatchError {
  return new DispatchError('forbidden', 'The code of the second factor is wrong, or was used before.', { reason: 'wrong_code' })
}

/** Throws for a disabled account, and for an address that the company's list does not allow. The message reveals nothing of the list. */
function admitted (account: Account, address: string): Account {
  if (account.disabled) {
    throw new DispatchError('forbidden', 'This user, or their company, is disabled: ask an administrator of the company, or the operator.',
      { reason: 'disabled' })
  }
  if (!isAddressAllowed(account.addresses, address)) {
    throw new DispatchError('forbidden', 'The company does not permit requests from this address.', { reason: 'address_not_permitted' })
  }
  return account
}

/** The refusal of somebody whose ways in have ended since they were let in. */
export function revoked (): DispatchError {
  return new DispatchError('unauthorized', 'The token is no longer valid: log in again.')
}

function actorOf ({ userId, companyId, email, role, services }: Person): Actor {
  return { userId, companyId, email, role, services }
}

/** A person, who may be somebody that acts as the user: it is their second factor that counts. */
export function personOf (account: Person, impersonator?: Person): Actor {
  const { secondFactor, secondFactorRequired } = impersonator ?? account
  return {
    ...actorOf(account),
    ...impersonator && { impersonatorId: impersonator.userId },
    ...secondFactorRequired && !secondFactor && { lacksSecondFactor: true }
  }
}

/** A program has the services that both its key and its user have. A test key, which is stored in more places, has the role `member`. */
function actingFor (actor: Actor, { keyId, mode, scopes, services }: KeyCredential): Actor {
  const both = services === undefined || actor.services.includes('*')
    ? services ?? actor.services
    : services.filter((service) => actor.services.includes(service))
  return { ...actor, services: both, role: mode === 'test' ? 'member' : actor.role, key: { id: keyId, mode, scopes } }
}

function sessionOf ({ userId, companyId }: Account, token: string): Session {
  return { token, userId, companyId }
}
