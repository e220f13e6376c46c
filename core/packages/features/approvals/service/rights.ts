import { type Actor, sightOf } from '@dispatch/accounts'
import { DispatchError } from '@dispatch/contract'
import type { Circle } from '../store/approvals.ts'
import type { ApprovalRow, StoredRule } from '../store/tables.ts'

/**
 * Admins see what waits in the company, others their own and what they may decide about; a key what its user has asked for: each of their
 * services. A test key sees none: nothing of a test waits.
 */
export function circleOf (actor: Actor): Circle | undefined {
  const { companyId, userId, role, key } = actor
  const { test, services } = sightOf(actor)
  if (test === true) return undefined
  const own = { companyId, ...services !== undefined && { services } }
  if (key !== undefined) return { ...own, userId }
  return { ...own, ...role === 'member' && { userId }, decider: { userId, isAdmin: role === 'admin' } }
}

type Decided = Pick<ApprovalRow, 'asker' | 'rules'>

/** Whether a rule names somebody: where it names nobody, the admins. */
export const names = ({ userId, role }: Actor, { approvers }: StoredRule): boolean =>
  approvers.length === 0 ? role === 'admin' : approvers.includes(userId)

/** Whether somebody sits at their own session, and has not asked for it, not even under another identity. */
const isAnother = ({ userId, key, impersonatorId }: Actor, { asker }: Decided): boolean =>
  key === undefined && impersonatorId === undefined && userId !== asker.userId && userId !== asker.impersonatorId

/** Whether somebody may refuse it: one of the rules names them. */
export const isNamed = (actor: Actor, row: Decided): boolean => isAnother(actor, row) && row.rules.some((rule) => names(actor, rule))

/** Whether somebody may approve it: a rule names them for which nobody has. */
export const mayDecide = (actor: Actor, row: Decided): boolean =>
  isAnother(actor, row) && row.rules.some((rule) => rule.consent === undefined && names(actor, rule))

export function requireNamed (actor: Actor, row: Decided): void {
  if (!isNamed(actor, row)) {
    throw new DispatchError('forbidden', 'This needs somebody else than who asked for it: a person, as themselves, whom a rule names.')
  }
}
