import type { Actor, AuditAuthor } from '@dispatch/accounts'
import { token } from '@dispatch/plugins/feature'
import type { ApprovalFacts, ApprovalRowView, ApprovalView } from '../contract/approvals.ts'
import { type ApprovalRef, listApprovals, moveApproval, removeOld } from '../store/approvals.ts'
import { approve, find, refuse, withdraw } from './decisions.ts'
import type { Decider, Needs } from './needs.ts'
import { noted } from './notes.ts'
import { viewFor } from './review.ts'
import { circleOf } from './rights.ts'
import { lookAgain, sweep } from './sweep.ts'
import { factsOf } from './view.ts'

/** What waits until somebody else has approved it, and what was decided. */
export type Approvals = {
  /** The newest 100: for admins those of the company, for others their own and those that they may decide about. */
  list: (actor: Actor, only?: 'waiting') => Promise<ApprovalFacts[]>
  /** Throws `not_found`. */
  read: (actor: Actor, id: string) => Promise<ApprovalView>
  /** So many rows of a batch after a number: fewer where they are large; none of what is no batch. Throws `not_found`. */
  rows: (
    actor: Actor,
    id: string,
    page: { after: number, limit: number, search?: string | undefined }
  ) => Promise<{ rows: ApprovalRowView[], next: number | null }>
  /**
   * Approves it for each rule that names the decider, of those that want it now. Once there is somebody for each, sends it, once, as
   * whoever has asked. Throws `conflict` where it does not wait, or where another dispatch would come of it than was `seen`, `forbidden`
   * for somebody who may not decide, and what a dispatch would be refused with.
   */
  approve: (decider: Decider, id: string, decision: { seen?: string, reason?: string }) => Promise<ApprovalView>
  /** Throws `conflict` where it does not wait, and `forbidden`. It is never sent. */
  refuse: (decider: Decider, id: string, reason: string) => Promise<ApprovalView>
  /** Takes back what the user has asked for. Throws `conflict` where it does not wait. */
  withdraw: (decider: Decider, id: string) => Promise<ApprovalView>
  /** Ends what waits and names a person who is erased: nobody decides about it any more. */
  end: (ref: ApprovalRef, author: AuditAuthor) => Promise<void>
  /** Sends what a process that has ended was about to send, and ends what waits for too long. */
  sweep: () => Promise<void>
  /** Lets consents lapse to what has changed since, as far as it waits for others: who gave them is told. */
  lookAgain: () => Promise<void>
  /** Removes some of what is old. */
  forget: () => Promise<void>
}

export const approvals = token<Approvals>('approvals')

/** Milliseconds for which what was decided is kept. */
const kept = 90 * 86_400_000

/** What waits for an approval in each company. Where somebody decides, what follows is sent before the answer. */
export function createApprovals (needs: Needs): Approvals {
  const { database, now, pages } = needs

  return {
    async list (actor, only) {
      const circle = circleOf(actor)
      const rows = circle === undefined ? [] : await listApprovals(database, circle, only, now())
      return rows.map((row) => factsOf(row, { now: now(), pages }))
    },

    read: async (actor, id) => viewFor(needs, actor, await find(needs, actor, id)),
    rows: (actor, id, page) => rows(needs, actor, id, page),
    approve: (decider, id, decision) => approve(needs, decider, id, decision),
    refuse: (decider, id, reason) => refuse(needs, decider, id, reason),
    withdraw: (decider, id) => withdraw(needs, decider, id),

    async end (ref, author) {
      await moveApproval(database, ref, { from: 'waiting', to: 'withdrawn', at: now() }, noted(needs, 'approval.withdrawn', author))
    },

    sweep: () => sweep(needs),
    lookAgain: () => lookAgain(needs),

    async forget () {
      await removeOld(database, new Date(now().getTime() - kept))
    }
  }
}

async function rows (
  needs: Pick<Needs, 'batches' | 'database'>,
  actor: Actor,
  id: string,
  page: { after: number, limit: number, search?: string | undefined }
): Promise<{ rows: ApprovalRowView[], next: number | null }> {
  const { company_id: companyId, batch_id: batchId } = await find(needs, actor, id)
  return batchId === null ? { rows: [], next: null } : needs.batches.kept({ companyId, batchId }, page)
}
