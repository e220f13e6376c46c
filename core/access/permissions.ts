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
export function requireRole (actor: Pick<Actor, 'role'>, ...roles: readonly [Role, ...Role[]]): void {
  if (!roles.includes(actor.role)) {
    throw new DispatchError('forbidden', `This needs the role ${roles.join(' or ')}, but the user is ${actor.role}.`)
  }
}

/** The roles, each above those before it. */
const ranks: readonly Role[] = ['member', 'admin', 'operator']

/** The roles that are not above this one: what its holder may give, and whose holders it may change. */
export function rolesUpTo (role: Role): readonly Role[] {
  return ranks.slice(0, ranks.indexOf(role) + 1)
}

/** Throws `forbidden` for a program: what opens other doors, or shuts them, needs the password of a person. */
export function requirePerson ({ key }: Pick<Actor, 'key'>): void {
  if (key !== undefined) {
    throw new DispatchError('forbidden', 'An API key may not do this: it needs the password of a person, or a token that was got with it.')
  }
}

/** Whether the actor may see a dispatch of their company: with a test key only what is a test. */
export function maySee ({ key }: Pick<Actor, 'key'>, { test }: { test: boolean }): boolean {
  return key?.mode !== 'test' || test
}

/** Whether who has some services has these too: nobody gives what they do not have, nor takes it by acting as somebody who has it. */
export function coversServices ({ services }: Pick<Actor, 'services'>, wanted: readonly string[]): boolean {
  return services.includes('*') || wanted.every((service) => service !== '*' && services.includes(service))
}

type Identity = Pick<Actor, 'userId' | 'companyId' | 'role' | 'services'>

/**
 * Whether one user may act as another: operators everywhere, admins in their company, nobody above their own role or with services that
 * they do not have.
 */
export function mayImpersonate (impersonator: Identity, user: Identity): boolean {
  if (impersonator.role === 'operator') return true
  return impersonator.role === 'admin' && user.role !== 'operator' && impersonator.companyId === user.companyId &&
    coversServices(impersonator, user.services)
}
