import { DispatchError, type KeyMode, type KeyScope, type Role } from '@dispatch/contract'
import { serviceNames } from '@dispatch/services'
import type { Actor } from './account.ts'

/** Whether the actor may use a service. */
export function mayUse (actor: Pick<Actor, 'services'>, service: string): boolean {
  return actor.services.includes('*') || actor.services.includes(service)
}

/** Throws `forbidden` unless the actor may use the service. */
export function requireService (actor: Pick<Actor, 'services'>, service: string): void {
  if (!mayUse(actor, service)) {
    throw new DispatchError('forbidden', `This user may not use the service "${service}": ask an admin of the company for it.`, {
      reason: 'needs_service'
    })
  }
}

/** Throws `forbidden` unless the actor has one of the roles. */
export function requireRole (actor: Pick<Actor, 'role'>, ...roles: readonly Role[]): void {
  if (!roles.includes(actor.role)) {
    throw new DispatchError('forbidden', `This needs the role ${roles.join(' or ')}, but the user is ${actor.role}.`, {
      reason: 'needs_other_role'
    })
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

/** Throws `forbidden` for a key without any of these scopes. People need none; `any`: every key may. */
export function requireScope ({ key }: Pick<Actor, 'key'>, scopes: readonly KeyScope[] | 'any'): void {
  if (key === undefined || scopes === 'any' || scopes.some((scope) => key.scopes.includes(scope))) return
  throw new DispatchError('forbidden', `This API key has not the scope ${scopes.join(' or ')}: make another key that has it.`)
}

/**
 * Throws `forbidden` for a key that only proposes, where it would dispatch for real: what it asks for is sent by a person who has seen it.
 */
export function requireSender ({ key }: Pick<Actor, 'key'>, { sandbox }: { sandbox?: true }): void {
  if (key === undefined || key.mode === 'test' || sandbox === true || key.scopes.includes('send')) return
  throw new DispatchError('forbidden',
    'This API key only proposes: a person sends what POST /api/v1/proposals takes. With ?sandbox=true it tests by itself.')
}

/** The scopes that are of use to keys of this mode and users of this role; what others open is closed to the user too. */
export function scopesWithin ({ role, mode }: { role: Role, mode: KeyMode }): readonly KeyScope[] {
  const ofMembers = ['send', 'read_own', 'read_all', 'configuration'] as const
  if (mode === 'test') return ofMembers
  if (role === 'member') return [...ofMembers, 'propose']
  return [...ofMembers, 'propose', 'templates', 'callbacks', 'audit', ...role === 'operator' ? ['platform'] as const : []]
}

/**
 * Throws `forbidden` unless the actor may use every service: for what tells of all dispatches of the company, or changes them all.
 * Operators may, who work for all companies and send nothing themselves.
 */
export function requireEveryService (actor: Pick<Actor, 'services'> & Partial<Pick<Actor, 'role' | 'key'>>): void {
  if (actor.role === 'operator' && actor.key === undefined) return
  if (serviceNames.every((service) => mayUse(actor, service))) return
  throw new DispatchError('forbidden',
    `This is about dispatches of every service, but only these may be used: ${actor.services.join(', ') || 'none'}.`, {
    reason: 'needs_service'
  })
}

/**
 * Which dispatches of their company an actor may see; what is left out bounds nothing. A test key sees tests alone. `services`: those with
 * no step of any other service. `userId`: those of this user.
 */
export type Sight = { test?: true, services?: readonly string[], userId?: number }

/**
 * What the actor may see. A key without `read_all` sees what its user has sent, with whichever key: a new key goes on where an old one
 * ended.
 */
export function sightOf ({ key, services, userId }: Pick<Actor, 'key' | 'services' | 'userId'>): Sight {
  return {
    ...key?.mode === 'test' && { test: true },
    ...!services.includes('*') && { services },
    ...key !== undefined && !key.scopes.includes('read_all') && { userId }
  }
}

/** Whether all dispatches of the company may be seen. */
export function isUnbounded ({ test, services, userId }: Sight): boolean {
  return test === undefined && services === undefined && userId === undefined
}

/** A dispatch as far as it matters to who may see it, with all its steps, deferred ones too. */
type Seen = { test: boolean, user_id: number, services: readonly string[], steps: readonly { service: string }[] }

/** Whether the actor may see a dispatch of their company. */
export function maySee (actor: Pick<Actor, 'key' | 'services' | 'userId'>, { test, user_id: userId, services, steps }: Seen): boolean {
  const sight = sightOf(actor)
  return (sight.test === undefined || test) && (sight.userId === undefined || sight.userId === userId) &&
    coversServices(actor, [...services, ...steps.map(({ service }) => service)])
}

/** Whether the actor has all of these services. Nobody may give services that they do not have, or get them by impersonation. */
export function coversServices ({ services }: Pick<Actor, 'services'>, desired: readonly string[]): boolean {
  return services.includes('*') || desired.every((service) => service !== '*' && services.includes(service))
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
