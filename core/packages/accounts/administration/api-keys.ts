import type { Problem } from '@dispatch/common'
import { DispatchError, keyScopes, type KeyView, type NewKeyBody, type NewKeyView, refusal, usualScopes } from '@dispatch/contract'
import type { Database } from '@dispatch/database'
import type { Account, Accounts, Actor } from '../access/account.ts'
import { digestOf, makeKey, shownOf } from '../access/api-key.ts'
import { revoked } from '../access/authentication.ts'
import { mayImpersonate, mayUse, rolesUpTo, scopesWithin } from '../access/permissions.ts'
import { type ApiKeyFilter, type ApiKeyRow, insertApiKey, listApiKeys, type NewApiKey, revokeApiKey } from '../store/api-keys.ts'
import type { Requester } from './users.ts'

/** Most keys that one user may have at once. */
const maxKeys = 100

/** API keys that people create for programs. Members manage only their own; admins also those of users whose role is not above theirs. */
export type KeyAdministration = {
  /**
   * Creates a key, which is shown only once. Throws `forbidden` during an impersonation and for a user above the actor, `validation_failed`
   * for services or scopes that are not its user's or an expiry in the past, `conflict` when the user has too many keys. Undefined when
   * there is no such user.
   */
  create: (by: Requester, key: NewKeyBody) => Promise<NewKeyView | undefined>
  /** Throws as `create`, but for the number of keys, and makes none. */
  check: (actor: Actor, key: Omit<NewKeyBody, 'userId'>) => Promise<void>
  /** The keys that are not revoked, the newest first. */
  list: (actor: Actor, page: { limit: number, after?: string, userId?: number, mode?: ApiKeyRow['mode'] }) => Promise<KeyView[]>
  /** Revokes a key. False when the actor can see no such key. */
  revoke: (by: Requester, keyId: string) => Promise<boolean>
}

type Options = { database: Database, accounts: Accounts, now: () => Date, newId: () => string }

/** Creates the administration of API keys. What its functions throw is said at {@link KeyAdministration}. */
export function createKeyAdministration ({ database, accounts, now, newId }: Options): KeyAdministration {
  /** Whose key an actor may make; undefined where there is no such user. */
  async function holderOf (actor: Actor, userId: number): Promise<Account | undefined> {
    if (actor.impersonatorId !== undefined) {
      throw new DispatchError('forbidden', 'A user who acts as another user cannot create keys, because a key would stay valid after that.')
    }
    const holder = await accounts.byId(userId)
    if (holder?.companyId !== actor.companyId) return undefined
    requireHolder(actor, holder)
    return holder
  }

  return {
    async check (actor, key) {
      const holder = await holderOf(actor, actor.userId)
      if (holder === undefined) throw revoked()
      requireAllowed(holder, key, now())
    },

    async create ({ actor, author }, { userId = actor.userId, ...body }) {
      const holder = await holderOf(actor, userId)
      if (holder === undefined) return undefined
      const at = now()
      const { secret, ...key } = keyOf(holder, body, { keyId: newId(), at })
      const created = await insertApiKey(database, key, { maker: actor, author, max: maxKeys, at })
      if (created === 'stale') throw revoked()
      if (created === 'full') {
        throw new DispatchError('conflict', `The user already has ${maxKeys} keys: revoke one that is not needed.`, { reason: 'at_most' })
      }
      return { ...viewOf(created), key: secret }
    },

    async list (actor, { userId, ...page }) {
      const holders = { ...userId === undefined ? {} : { userId }, ...holdersFor(actor) }
      return (await listApiKeys(database, holders, page)).map(viewOf)
    },

    revoke: ({ actor, author }, keyId) => revokeApiKey(database, holdersFor(actor), keyId, { author, at: now() })
  }
}

function holdersFor ({ companyId, userId, role }: Actor): ApiKeyFilter {
  return { companyId, ...role === 'member' ? { userId } : { roles: rolesUpTo(role) } }
}

/** Whoever creates a key knows it and can act with it, so this needs the same rights as an impersonation. */
function requireHolder (actor: Actor, holder: Account): void {
  if (holder.userId === actor.userId || mayImpersonate(actor, holder)) return
  throw new DispatchError('forbidden',
    'A key of another user is made by an admin of the company, and of nobody whose role is above their own or who has services ' +
      'that they do not have.')
}

/** A key does nothing that its user may not do, and ends later than now. */
function requireAllowed (
  { role, services: usable }: Account,
  { mode, scopes = [...usualScopes], services, expiresAt }: Omit<NewKeyBody, 'userId' | 'name'>,
  at: Date
): void {
  const problems: Problem[] = (services ?? []).flatMap((service, index) =>
    mayUse({ services: usable }, service)
      ? []
      : [{ path: `/services/${index}`, code: 'not_permitted', message: `The user may not use "${service}".` }]
  )
  const within = scopesWithin({ role, mode })
  problems.push(...scopes.flatMap((scope, index) =>
    within.includes(scope)
      ? []
      : [{ path: `/scopes/${index}`, code: 'not_permitted', message: `A ${mode} key of this user can have: ${within.join(', ')}.` }]
  ))
  if (scopes.includes('send') && scopes.includes('propose')) {
    problems.push({
      path: '/scopes',
      code: 'contradiction',
      message: 'A key sends, or it proposes what people send: give "send" or "propose", not both.'
    })
  }
  if (expiresAt !== undefined && new Date(expiresAt) <= at) {
    problems.push({ path: '/expiresAt', code: 'past', message: 'Must lie in the future.' })
  }
  if (problems.length > 0) throw refusal('validation_failed', problems)
}

function keyOf (
  holder: Account,
  key: Omit<NewKeyBody, 'userId'>,
  { keyId, at }: { keyId: string, at: Date }
): NewApiKey & { secret: string } {
  requireAllowed(holder, key, at)
  const { name, mode, scopes = usualScopes, services, expiresAt } = key
  const { secret } = makeKey(mode)
  return {
    keyId,
    companyId: holder.companyId,
    userId: holder.userId,
    name,
    mode,
    scopes: keyScopes.filter((scope) => scopes.includes(scope)),
    ...services === undefined ? {} : { services },
    ...expiresAt === undefined ? {} : { expiresAt: new Date(expiresAt) },
    ...shownOf(secret),
    digest: digestOf(secret),
    secret
  }
}

function viewOf (row: ApiKeyRow): KeyView {
  return {
    id: row.key_id,
    name: row.name,
    mode: row.mode,
    userId: row.user_id,
    scopes: [...row.scopes],
    services: row.services,
    prefix: row.beginning,
    last4: row.ending,
    createdAt: row.created_at.toISOString(),
    expiresAt: row.expires_at?.toISOString() ?? null,
    lastUsedAt: row.last_used_at?.toISOString() ?? null
  }
}
