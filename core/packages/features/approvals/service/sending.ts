import { type Actor, type AuditAuthor, noteAudit } from '@dispatch/accounts'
import { DispatchError } from '@dispatch/contract'
import { ApprovalRequired } from '@dispatch/core'
import { type ApprovalRef, moveApproval } from '../store/approvals.ts'
import type { ApprovalRow, StoredRule } from '../store/tables.ts'
import type { Needs } from './needs.ts'
import { noted } from './notes.ts'
import { addedOf, askerOf, commandOf } from './review.ts'

/** The errors of a dispatch after which it may be recorded: the approval is not taken back. */
const unclear: ReadonlySet<string> = new Set(['recording_unknown', 'timeout', 'internal_error', 'service_unavailable',
  'idempotency_in_progress'])

export const refOf = ({ company_id: companyId, approval_id: approvalId }: ApprovalRow): ApprovalRef => ({ companyId, approvalId })

/** The idempotency key under which it is sent, whoever sends it. */
export const keyOf = (row: ApprovalRow): string => row.idempotency_key ?? `approval ${row.approval_id}`

/**
 * Sends what was approved. Where it is refused for sure, it waits again: whoever has just approved it reads why, and is mailed where it
 * is sent later.
 */
export async function sendApproved (needs: Needs, row: ApprovalRow, when: 'now' | 'later'): Promise<void> {
  const { database, now } = needs
  const { author, seen } = row
  if (author === null) throw new Error(`Nobody has approved ${row.approval_id}.`)
  try {
    if (row.batch_id !== null) await resumed(needs, row, row.batch_id, author)
    const sent = row.batch_id === null ? { dispatchId: await dispatched(needs, row, seen) } : {}
    // Where another process was refused meanwhile, it waits again: what was sent counts.
    const by = { userId: row.decided_by ?? author.userId, author, reason: row.reason ?? undefined, seen: seen ?? undefined }
    await moveApproval(database, refOf(row), { from: ['sending', 'waiting'], to: 'approved', by, at: row.decided_at ?? now(), ...sent },
      noted(needs, 'approval.approved', author))
  } catch (error) {
    if (error instanceof DispatchError && !unclear.has(error.word)) {
      const added = error instanceof ApprovalRequired ? await addedOf(needs, row, error.rules) : []
      await waitAgain(needs, row, error.word, { added, when })
      if (added.length > 0) {
        const names = added.map(({ name }) => `"${name}"`).join(', ')
        throw new DispatchError('conflict', `Another rule wants it approved as well (${names}), and it waits for that: look again.`, {
          reason: 'needs_approval'
        })
      }
    }
    throw error
  }
}

/**
 * What was approved waits again, for those rules that have not asked for it before, or for whoever approved it last: the others need not
 * look again.
 */
export async function waitAgain (
  { database, now }: Pick<Needs, 'database' | 'now'>,
  row: ApprovalRow,
  reason: string,
  { added = [], when = 'later' }: { added?: readonly StoredRule[], when?: 'now' | 'later' } = {}
): Promise<void> {
  const rules = added.length > 0
    ? [...row.rules, ...added]
    : row.rules.map(({ consent, ...rule }): StoredRule => ({
      ...rule,
      ...consent && (consent.by === row.decided_by ? { lapsed: consent } : { consent })
    }))
  const asksAgain = added.length > 0 || when === 'later'
  await moveApproval(database, refOf(row), { from: 'sending', to: 'waiting', at: now(), since: row.worked_at, rules, asksAgain },
    (queries) =>
      noteAudit(queries, {
        companyId: row.company_id,
        author: row.author,
        at: now(),
        action: 'approval.returned',
        object: { kind: 'approval', id: row.approval_id },
        facts: { reason, ...added.length > 0 && { rules: added.map(({ name }) => name) } }
      }))
}

/** The id of the dispatch that comes of it. */
async function dispatched (
  needs: Pick<Needs, 'accounts' | 'database' | 'pipeline'>,
  row: ApprovalRow,
  seen: string | null
): Promise<string> {
  // The key makes one dispatch of it, whoever approves at the same time, and whatever ends this process meanwhile.
  const { result: { dispatchId } } = await needs.pipeline.dispatch({
    ...commandOf(row, await askerOf(needs, row)),
    mode: 'asynchronous',
    idempotencyKey: keyOf(row),
    ...seen !== null && { seen }
  })
  return dispatchId
}

/** Lets its batch go on. Throws `conflict` where the batch was cancelled. */
async function resumed (needs: Needs, row: ApprovalRow, batchId: string, author: AuditAuthor): Promise<void> {
  const { batches, database, now } = needs
  const { asker } = row
  const ref = refOf(row)
  const { companyId } = ref
  const actor: Actor = { companyId, userId: asker.userId, email: '', role: 'admin', services: ['*'] }
  try {
    if (await batches.resumeApproved({ actor, author, batchId }) !== undefined) return
  } catch (error) {
    if (!(error instanceof DispatchError && error.word === 'conflict')) throw error
  }
  // It goes on already, as another process has found, or it is over.
  const batch = await batches.find(actor, batchId)
  if (batch !== undefined && batch.status !== 'cancelled' && batch.status !== 'refused') return
  await moveApproval(database, ref, { from: 'sending', to: 'withdrawn', at: now() }, noted(needs, 'approval.withdrawn', author))
  throw new DispatchError('conflict', 'The batch was cancelled meanwhile: nothing more of it is sent.', { reason: 'cancelled' })
}
