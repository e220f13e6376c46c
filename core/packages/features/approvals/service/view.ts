import type { Actor } from '@dispatch/accounts'
import type { ToldApproval } from '@dispatch/contract'
import type { ApprovalFacts, ApprovalView } from '../contract/approvals.ts'
import { addressesOf } from '../store/approvals.ts'
import type { ApprovalRow } from '../store/tables.ts'
import type { Needs } from './needs.ts'
import { isNamed, mayDecide } from './rights.ts'

/** Whether something can be decided about it. */
export const isOpen = ({ now }: Pick<Needs, 'now'>, row: ApprovalRow): boolean => row.status === 'waiting' && row.expires_at > now()

/** With the addresses of the people, and what the reader may do about it. */
export async function withNames (
  needs: Pick<Needs, 'database' | 'now' | 'pages'>,
  actor: Actor,
  row: ApprovalRow
): Promise<Omit<ApprovalView, 'review'>> {
  const { database, now, pages } = needs
  const { company_id: companyId, user_id: userId, decided_by: decidedBy, rules, request, facts: { totals } } = row
  const people = [userId, ...decidedBy === null ? [] : [decidedBy],
    ...rules.flatMap(({ approvers, consent, lapsed }) => [...approvers, ...[consent, lapsed].flatMap((one) => one?.by ?? [])])]
  const addresses = await addressesOf(database, companyId, [...new Set(people)])
  const nameOf = (id: number): string => addresses.get(id) ?? ''
  return {
    ...factsOf(row, { now: now(), pages }),
    askedBy: nameOf(userId),
    decider: decidedBy === null ? null : nameOf(decidedBy),
    asks: rules.map(({ name, approvers, consent, lapsed }) => ({
      name,
      approvers: approvers.map(nameOf),
      approvedBy: consent === undefined ? null : nameOf(consent.by),
      approvedAt: consent?.at ?? null,
      lapsedBy: consent === undefined && lapsed !== undefined ? nameOf(lapsed.by) : null
    })),
    mayDecide: isOpen(needs, row) && mayDecide(actor, row),
    mayRefuse: isOpen(needs, row) && isNamed(actor, row),
    ...totals !== undefined && { totals },
    request
  }
}

/** What is not decided in time has expired before anybody notes it. */
export function statusOf ({ status, expires_at: expiresAt }: ApprovalRow, now: Date): ApprovalFacts['status'] {
  return status === 'waiting' && expiresAt <= now ? 'expired' : status
}

/** An approval as a list shows it. */
export function factsOf (row: ApprovalRow, { now, pages }: { now: Date, pages: string | undefined }): ApprovalFacts {
  const { totals: _totals, ...facts } = row.facts
  return {
    id: row.approval_id,
    status: statusOf(row, now),
    service: row.services.join('/'),
    rules: row.rules.map(({ name }) => name),
    userId: row.user_id,
    decidedBy: row.decided_by,
    reason: row.reason,
    ...facts,
    batchId: row.batch_id,
    dispatchId: row.dispatch_id,
    createdAt: row.created_at.toISOString(),
    expiresAt: row.expires_at.toISOString(),
    decidedAt: row.decided_at?.toISOString() ?? null,
    link: pages === undefined ? null : `${pages}/${row.approval_id}`
  }
}

/** The same for a callback. */
export function toldOf (row: ApprovalRow, where: Parameters<typeof factsOf>[1]): ToldApproval {
  const { recipient: _recipient, reason: _reason, ...reported } = factsOf(row, where)
  return reported
}
