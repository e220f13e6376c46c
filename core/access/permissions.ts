import { DispatchError } from '../contract/errors.ts'
import type { Actor, Role } from './account.ts'

/** Whether the actor may use a service. */
export function mayUse (actor: Pick<Actor, 'services'>, service: string): boolean {
  return actor.services.includes('*') || actor.services.includes(service)
}

/** Throws `forbidden` unless the actor may use the service. */
export function requireService (actor: Pick<Actor, 'services'>, service: string): void {
  if (!mayUse(actor, service)) {
    throw new DispatchError('forbidden', `This user may not use the service "${service}": ask an admin of the company for it.`)
  }
}

/** Throws `forbidden` unless the actor has one of the roles. */
export function requireRole (actor: Pick<Actor, 'role'>, ...roles: readonly Role[]): void {
  if (!roles.includes(actor.role)) {
    throw new DispatchError('forbidden', `This needs the role ${roles.join(' or ')}, but the user is ${actor.role}.`)
  }
}

/** The roles, lowest first. */
const ranks: readonly Role[] = ['member', 'admin', 'operator']

/** The roles up to this one: those that its holder may give to users, and whose users it may change. */
export function rolesUpTo (role: Role): readonly Role[] {
  return ranks.slice(0, ranks.indexOf(role) + 1)
}

/** Throws `forbidden` for a program: an action that changes who has access needs a person with a password. */
export function requirePerson ({ key }: Pick<Actor, 'key'>): void {
  if (key !== undefined) {
    throw new DispatchError('forbidden', 'An API key cannot do this: it needs the password of a user, or a token from a login.')
  }
}

/** Whether the actor may see a dispatch of their company. A test key sees only tests. */
export function maySee ({ key }: Pick<Actor, 'key'>, { test }: { test: boolean }): boolean {
  return key?.mode !== 'test' || test
}

/** Whether the actor has all of these services. Nobody may give services that they do not have, or get them by impersonation. */
export function coversServices ({ services }: Pick<Actor, 'services'>, wanted: readonly string[]): boolean {
  return services.includes('*') || wanted.every((service) => service !== '*' && services.includes(service))
}

type Identity = Pick<Actor, 'userId' | 'companyId' | 'role' | 'services'>

/**
 * Whether one user may impersonate another: operators in every company, admins in their own; never a user with a higher role, or with
 * services that the impersonator does not have.
 */
export function mayImpersonate (impersonator: Identity, user: Identity): boolean {
  if (impersonator.role === 'operator') return true
  return impersonator.role === 'admin' && user.role !== 'operator' && impersonator.companyId === user.companyId &&
    coversServices(impersonator, user.services)
}
