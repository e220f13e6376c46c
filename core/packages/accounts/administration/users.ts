import { DispatchError, type NewUserBody, type Role, type UserChanges, type UserDetail, type UserView } from '@dispatch/contract'
import type { Database } from '@dispatch/database'
import { type Actor, normaliseEmail } from '../access/account.ts'
import type { Credentials } from '../access/credentials.ts'
import { requireGoodPassword } from '../access/password-rules.ts'
import { hashPassword, unusableHash } from '../access/passwords.ts'
import { coversServices, rolesUpTo } from '../access/permissions.ts'
import type { AuditAuthor } from '../audit/audit.ts'
import { type AccessEnd, countWays, resetAccess } from '../store/access.ts'
import type { FactorStore } from '../store/second-factors.ts'
import { addUser, findUser, listUsers, updatePassword, updateUser, type UserRow } from '../store/users.ts'
import { refuseDomainOfOther } from './domains.ts'

/** Who changes users, and from which IP address. */
export type Requester = { actor: Actor, author: AuditAuthor }

/** The administration of a company's users. Users with a higher role than the actor's, and users of other companies, are not visible. */
export type Users = {
  list: (actor: Actor, page: { limit: number, after?: string }) => Promise<UserView[]>
  find: (actor: Actor, userId: number) => Promise<UserDetail | undefined>
  /**
   * Throws `forbidden` for a role above the actor's, or for services that the actor does not have; `conflict` for an e-mail address that
   * another user of the company has; `validation_failed` for a bad password.
   */
  create: (by: Requester, user: NewUserBody) => Promise<UserView>
  /**
   * Throws as `create`. Also throws `forbidden` when users change their own e-mail address or password without the `current` password, and
   * `conflict` when the company would have no admin left. Undefined when there is no such user.
   */
  change: (by: Requester, userId: number, changes: UserChanges) => Promise<UserView | undefined>
  /**
   * Ends every way in of another user of the company, for one that somebody else has got into; a link for another password lets the user in
   * again. Throws `forbidden` for the actor's own user, and for one with services that the actor does not have. False when there is no such
   * user.
   */
  reset: (by: Requester, userId: number) => Promise<boolean>
  /** Changes the actor's own password. Throws `forbidden` when the current password is wrong. */
  changePassword: (by: Requester, passwords: { current: string, password: string }) => Promise<void>
}

type Options = {
  database: Database
  credentials: Credentials
  /** What ends a way in, of each feature that brings one. */
  accessEnds: readonly AccessEnd[]
  /** Where features keep the second factors of users. */
  verifications: readonly FactorStore[]
  now: () => Date
}

/** Creates the administration of users. What its functions throw is said at {@link Users}. */
export function createUsers ({ database, credentials, accessEnds, verifications, now }: Options): Users {
  async function requireCurrent (
    { userId, email, current }: { userId: number, email: string, current: string },
    { address }: AuditAuthor
  ): Promise<void> {
    if (await credentials.verify(email, current, address, userId) === undefined) {
      throw new DispatchError('forbidden', 'The current password is wrong.', { reason: 'wrong_password' })
    }
  }

  /**
   * Whoever sets a user's e-mail address or password could log in as that user. For one's own account this needs the current password, also
   * during an impersonation. For another user's account the actor must have all services of that user.
   */
  async function requireHold (actor: Actor, author: AuditAuthor, user: UserRow, current: string | undefined): Promise<void> {
    const isOwn = user.user_id === actor.userId || user.user_id === actor.impersonatorId
    if (!isOwn) requireOwned(actor, user.services)
    else if (current === undefined) {
      throw new DispatchError('forbidden',
        'One\'s own e-mail address and password are changed with the current password: send it as "current".')
    } else await requireCurrent({ userId: user.user_id, email: user.email, current }, author)
  }

  return {
    async list ({ companyId, role }, page) {
      return (await listUsers(database, companyId, { ...page, roles: rolesUpTo(role) })).map(viewOf)
    },

    async find ({ companyId, role }, userId) {
      const user = await findUser(database, { companyId, userId })
      if (user === undefined || !rolesUpTo(role).includes(user.role)) return undefined
      return { ...viewOf(user), ways: await countWays(database, verifications, { companyId, userId }) }
    },

    async create ({ actor, author }, { email, password, role, services }) {
      requireGrantable(actor, role)
      requireOwned(actor, services)
      requireGoodPassword(password, email)
      await refuseDomainOfOther(database, actor.companyId, normaliseEmail(email))
      const user = { email: normaliseEmail(email), role, services, passwordHash: await hashPassword(password) }
      const created = await addUser(database, actor.companyId, user, { author, at: now() })
      if (created === undefined) throw emailTaken()
      return viewOf(created)
    },

    async change ({ actor, author }, userId, { email, password, current, ...changes }) {
      const known = await findUser(database, { companyId: actor.companyId, userId })
      if (known === undefined || !rolesUpTo(actor.role).includes(known.role)) return undefined
      if (changes.role !== undefined) requireGrantable(actor, changes.role)
      requireOwned(actor, (changes.services ?? []).filter((service) => !known.services.includes(service)))
      if (email !== undefined || password !== undefined) await requireHold(actor, author, known, current)
      if (email !== undefined) await refuseDomainOfOther(database, actor.companyId, normaliseEmail(email))
      const change = {
        ...changes,
        ...(email === undefined ? {} : { email: normaliseEmail(email) }),
        ...(password === undefined ? {} : { passwordHash: await hashPassword(password) })
      }
      const changed = await updateUser(database, { companyId: actor.companyId, userId }, (user, others) => {
        // Since the user was read, an operator may have given them a higher role.
        if (!rolesUpTo(actor.role).includes(user.role)) {
          throw new DispatchError('conflict', 'Somebody else is changing the user: read the user again.', { reason: 'being_done' })
        }
        if (password !== undefined) requireGoodPassword(password, email ?? user.email)
        requireSuccessor(user, { role: changes.role ?? user.role, disabled: changes.disabled ?? user.disabled_at !== null }, others)
        return change
      }, { author, at: now() })
      if (changed === 'taken') throw emailTaken()
      return changed && viewOf(changed)
    },

    async reset ({ actor, author }, userId) {
      const { companyId, impersonatorId = actor.userId } = actor
      const user = await findUser(database, { companyId, userId })
      if (user === undefined || !rolesUpTo(actor.role).includes(user.role)) return false
      if (userId === impersonatorId) {
        throw new DispatchError('forbidden', 'Another admin, or an operator, ends your own ways in.', { reason: 'needs_another_person' })
      }
      requireOwned(actor, user.services)
      await resetAccess(database, accessEnds, { companyId, userId, passwordHash: unusableHash }, { author, at: now() })
      return true
    },

    async changePassword ({ actor: { userId, companyId, email }, author }, { current, password }) {
      await requireCurrent({ userId, email, current }, author)
      requireGoodPassword(password, email)
      await updatePassword(database, { companyId, userId }, await hashPassword(password), { author, at: now() })
    }
  }
}

/** Throws `forbidden` for a role above the actor's. */
export function requireGrantable ({ role }: Actor, given: Role): void {
  if (!rolesUpTo(role).includes(given)) {
    throw new DispatchError('forbidden', `The role ${given} is above your own, which is ${role}.`, { reason: 'above_own_role' })
  }
}

/** Throws `forbidden` for services that the actor does not have. Operators may give any service. */
export function requireOwned (actor: Actor, services: readonly string[]): void {
  const foreign = services.filter((service) => !coversServices(actor, [service]))
  if (actor.role === 'operator' || foreign.length === 0) return
  throw new DispatchError('forbidden',
    `You cannot give services that you may not use yourself: ${foreign.map((service) => `"${service}"`).join(', ')}.`, {
    reason: 'above_own_role'
  })
}

/** Throws `conflict` when a company, or the platform, would lose its last admin or operator. */
function requireSuccessor (before: UserRow, after: { role: Role, disabled: boolean }, others: readonly Role[]): void {
  if (before.role === 'member' || before.disabled_at !== null) return
  const isKept = (role: Role): boolean => rolesUpTo(role).includes(before.role)
  if ((!after.disabled && isKept(after.role)) || others.some(isKept)) return
  throw new DispatchError('conflict', `This is the last enabled ${before.role} of the company: create another one first.`, {
    reason: 'last_of_role'
  })
}

function emailTaken (): DispatchError {
  return new DispatchError('conflict', 'The company already has a user with this e-mail address: choose another one.', {
    reason: 'email_taken'
  })
}

function viewOf (user: UserRow): UserView {
  return {
    id: user.user_id,
    email: user.email,
    role: user.role,
    services: user.services,
    disabled: user.disabled_at !== null,
    secondFactor: user.second_factor_at !== null,
    createdAt: user.created_at.toISOString()
  }
}
