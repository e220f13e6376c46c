import { type AuditAuthor, noteAudit, notifyUrlOf } from '@dispatch/accounts'
import type { CallbackType } from '@dispatch/contract'
import { asOwner, type CompanyQueries } from '@dispatch/database'
import type { ApprovalRow } from '../store/tables.ts'
import type { Needs } from './needs.ts'
import { toldOf } from './view.ts'

/** Tells the company by callbacks, and the audit log, in the transaction of the decision. A batch that is not approved ends in it. */
export function noted (
  { batches, now, outbox, pages }: Needs,
  type: Extract<CallbackType, `approval.${string}`>,
  author: AuditAuthor | null
): (queries: CompanyQueries, row: ApprovalRow) => Promise<void> {
  return async (queries, row) => {
    const { company_id: companyId, approval_id: id, user_id: askedBy, decided_by: decidedBy, dispatch_id: dispatchId, reason } = row
    if (row.batch_id !== null && type !== 'approval.approved') {
      await batches.end(queries, { companyId, batchId: row.batch_id }, { author, at: now() })
    }
    const owner = await asOwner(queries)
    await noteAudit(owner, {
      companyId,
      author,
      at: now(),
      action: type,
      object: { kind: 'approval', id },
      facts: {
        askedBy,
        ...decidedBy !== null && { decidedBy },
        ...dispatchId !== null && { dispatchId },
        ...row.batch_id !== null && { batchId: row.batch_id },
        ...reason !== null && { reason }
      }
    })
    const url = await notifyUrlOf(owner, companyId)
    await outbox.tell(owner, companyId, { type, data: toldOf(row, { now: now(), pages }), ...url === null ? {} : { url } })
  }
}

/** Notes that somebody has approved it while others are still asked. */
export const notedConsent =
  ({ now }: Pick<Needs, 'now'>, author: AuditAuthor) => async (queries: CompanyQueries, row: ApprovalRow): Promise<void> => {
    if (row.status !== 'waiting') return
    await noteAudit(queries, {
      companyId: row.company_id,
      author,
      at: now(),
      action: 'approval.consented',
      object: { kind: 'approval', id: row.approval_id },
      facts: {
        askedBy: row.user_id,
        waitsFor: row.rules.filter(({ consent }) => consent === undefined).map(({ name }) => name)
      }
    })
  }
