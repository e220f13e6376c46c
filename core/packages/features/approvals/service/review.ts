import { type Actor, recordedActor } from '@dispatch/accounts'
import { DispatchError } from '@dispatch/contract'
import { ApprovalRequired } from '@dispatch/core'
import type { ApprovalView } from '../contract/approvals.ts'
import { consentsTo } from '../store/approvals.ts'
import { rulesNow } from '../store/rules.ts'
import type { ApprovalRow, StoredRule } from '../store/tables.ts'
import type { Needs } from './needs.ts'
import { isOpen, withNames } from './view.ts'

/** Who has asked, as of now. Throws `conflict` where they may send no more. */
export async function askerOf ({ accounts, database }: Pick<Needs, 'accounts' | 'database'>, row: ApprovalRow): Promise<Actor> {
  const actor = await recordedActor({ accounts, database }, row.asker)
  if (actor === undefined) throw new DispatchError('conflict', 'Whoever asked for it may not send any more, nor may their API key.')
  return actor
}

/** The request as it was asked for. Its time may have passed while it waited: then it is sent as soon as it may be. */
export const commandOf = (row: ApprovalRow, actor: Actor) => ({
  ...row.command,
  actor,
  services: row.services,
  body: row.request,
  approval: { approvalId: row.approval_id, rules: row.rules.map(({ id }) => id) }
})

/** An approval as somebody reads it: while it waits, with what would come of it now, or why nothing would. */
export async function viewFor (needs: Needs, actor: Actor, found: ApprovalRow): Promise<ApprovalView> {
  if (!isOpen(needs, found)) return { ...await withNames(needs, actor, found), review: null }
  try {
    const { rules, review } = await reviewOf(needs, found)
    return { ...await withNames(needs, actor, { ...found, rules }), review }
  } catch (error) {
    if (!(error instanceof DispatchError)) throw error
    const { word, message, reason, details } = error
    const problem = { error: word, message, ...reason !== undefined && { reason }, ...details !== undefined && { details: [...details] } }
    return { ...await withNames(needs, actor, found), review: null, problem }
  }
}

/** What would come of it now, and the rules that want it now, with the consents to that. Throws what a dispatch would be refused with. */
export async function reviewOf (needs: Needs, row: ApprovalRow): Promise<{ rules: StoredRule[], review: ApprovalView['review'] }> {
  const { batches, pipeline } = needs
  const asker = await askerOf(needs, row)
  const { batch_id: batchId } = row
  if (batchId !== null) {
    const requested = await batches.toApprove(asker, batchId)
    const added = requested === undefined ? [] : await addedOf(needs, row, await pipeline.rulesForBatch(requested.batch, requested.found))
    return { rules: [...row.rules, ...added], review: null }
  }
  const { plan, recipient, warnings, seen, asking } = await pipeline.review(commandOf(row, asker))
  const rules = consentsTo(seen, [...row.rules, ...await addedOf(needs, row, asking)])
  return { rules, review: { plan, ...recipient !== undefined && { recipient }, warnings, seen } }
}

/** Those rules that have not asked for it before, with whom they name. */
export async function addedOf (
  { database }: Pick<Needs, 'database'>,
  row: ApprovalRow,
  asking: ApprovalRequired['rules']
): Promise<StoredRule[]> {
  const rules = asking.filter(({ id }) => !row.rules.some((rule) => rule.id === id))
    .map(({ id = '', name = '' }) => ({ id, name, approvers: [] }))
  return rules.length === 0 ? [] : await rulesNow(database, { company_id: row.company_id, rules })
}
