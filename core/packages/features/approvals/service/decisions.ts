import type { Actor } from '@dispatch/accounts'
import { DispatchError } from '@dispatch/contract'
import type { ApprovalView } from '../contract/approvals.ts'
import { consentTo, moveApproval, readApproval } from '../store/approvals.ts'
import { rulesNow } from '../store/rules.ts'
import type { ApprovalRow } from '../store/tables.ts'
import type { Decider, Needs } from './needs.ts'
import { noted, notedConsent } from './notes.ts'
import { reviewOf, viewFor } from './review.ts'
import { circleOf, mayDecide, names, requireNamed } from './rights.ts'
import { refOf, sendApproved } from './sending.ts'
import { isOpen, statusOf } from './view.ts'

/** An approval with whom its rules name now: an approver who has left is replaced, and one whom a rule names no more decides no more. */
export async function find ({ database }: Pick<Needs, 'database'>, actor: Actor, id: string): Promise<ApprovalRow> {
  const circle = circleOf(actor)
  const row = circle && await readApproval(database, circle, id)
  if (row === undefined) throw new DispatchError('not_found', `There is no approval "${id}".`)
  return { ...row, rules: await rulesNow(database, row) }
}

/** Throws `conflict` where nothing can be decided about it any more. */
function requireOpen (needs: Pick<Needs, 'now'>, row: ApprovalRow): void {
  if (!isOpen(needs, row)) {
    throw new DispatchError('conflict', `It is ${statusOf(row, needs.now())}: nothing can be decided about it any more.`, {
      reason: 'decided'
    })
  }
}

/** Approves it as it was `seen`; it is sent once nobody else is asked. */
export async function approve (
  needs: Needs,
  { actor, author }: Decider,
  id: string,
  { seen, reason }: { seen?: string, reason?: string }
): Promise<ApprovalView> {
  const { database, now } = needs
  const row = await find(needs, actor, id)
  requireNamed(actor, row)
  const isTheirs = ({ rules }: Pick<ApprovalRow, 'rules'>): boolean => rules.some(({ consent }) => consent?.by === actor.userId)
  if (row.status === 'approved' && isTheirs(row)) return viewFor(needs, actor, row)
  requireOpen(needs, row)
  if (row.batch_id === null && seen === undefined) {
    throw new DispatchError('validation_error', 'What was seen of it belongs into the body: GET tells it.', {
      details: [{ path: '/seen', code: 'required', message: 'It is required for what is no batch.' }]
    })
  }
  const { rules, review } = await reviewOf(needs, row)
  if (review !== null && review.seen !== seen) {
    throw new DispatchError('conflict',
      'Another dispatch would come of it now than was shown, because a template, a provider or a price has changed: look again.', {
      reason: 'changed_meanwhile'
    })
  }
  if (!mayDecide(actor, { ...row, rules })) {
    if (isTheirs({ rules })) return viewFor(needs, actor, row)
    throw new DispatchError('conflict', 'Somebody else has to approve it as well: look again.', { reason: 'needs_approval' })
  }
  const taken = await consentTo(database, refOf(row), {
    rules,
    names: (rule) => names(actor, rule),
    by: { userId: actor.userId, author, reason, seen },
    at: now()
  }, notedConsent(needs, author))
  if (taken === undefined) {
    throw new DispatchError('conflict', 'Somebody else has just decided about it: look again.', { reason: 'decided' })
  }
  if (taken.status === 'sending') await sendApproved(needs, taken, 'now')
  return viewFor(needs, actor, await find(needs, actor, id))
}

/** Refuses it, so that it is never sent. */
export async function refuse (needs: Needs, { actor, author }: Decider, id: string, reason: string): Promise<ApprovalView> {
  const { database, now } = needs
  const row = await find(needs, actor, id)
  requireNamed(actor, row)
  requireOpen(needs, row)
  const refused = await moveApproval(database, refOf(row), {
    from: 'waiting',
    to: 'refused',
    by: { userId: actor.userId, author, reason },
    at: now(),
    open: true
  }, noted(needs, 'approval.refused', author))
  if (refused === undefined) {
    throw new DispatchError('conflict', 'Somebody else has just decided about it: look again.', { reason: 'decided' })
  }
  return viewFor(needs, actor, refused)
}

/** Takes it back for whoever has asked for it. */
export async function withdraw (needs: Needs, { actor, author }: Decider, id: string): Promise<ApprovalView> {
  const { database, now } = needs
  const row = await find(needs, actor, id)
  if (row.user_id !== actor.userId) {
    throw new DispatchError('forbidden', 'Only whoever asked for it takes it back: an approver refuses it.')
  }
  requireOpen(needs, row)
  const taken = await moveApproval(database, refOf(row), { from: 'waiting', to: 'withdrawn', at: now(), open: true },
    noted(needs, 'approval.withdrawn', author))
  if (taken === undefined) throw new DispatchError('conflict', 'Somebody has just decided about it: look again.', { reason: 'decided' })
  return viewFor(needs, actor, taken)
}
