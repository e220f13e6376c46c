import type { AuditView } from '@dispatch/contract'
import type { Database } from '@dispatch/database'
import type { Actor } from '../access/account.ts'
import { type AuditFilter, type AuditRow, listAudit } from '../audit/audit.ts'

/**
 * A page of the audit log of a company, the newest entry first: the actor's own company by default, any company for operators. Undefined
 * when the actor asks for another company and is no operator.
 */
export async function readAuditLog (
  database: Database,
  actor: Actor,
  { companyId = actor.companyId, ...filter }: AuditFilter & { companyId?: number },
  page: { limit: number, after?: string }
): Promise<AuditView[] | undefined> {
  if (companyId !== actor.companyId && actor.role !== 'operator') return undefined
  return (await listAudit(database, companyId, filter, page)).map((row) => viewOf(row, actor))
}

function viewOf (row: AuditRow, reader: Actor): AuditView {
  const { user_id: userId, user_company_id: companyId, impersonator_id: impersonatorId, key_id: keyId } = row
  // Companies do not see the IP addresses of the platform's operators, also not during an impersonation.
  const isShown = reader.role === 'operator' || row.from_within
  return {
    id: row.audit_id,
    at: row.at.toISOString(),
    action: row.action,
    object: { kind: row.object_kind, id: row.object_id },
    author: userId === null || companyId === null
      ? null
      : { userId, companyId, ...(impersonatorId === null ? {} : { impersonatorId }), ...(keyId === null ? {} : { keyId }) },
    ...(row.address === null || !isShown ? {} : { address: row.address }),
    ...(row.request_id === null ? {} : { requestId: row.request_id }),
    facts: row.facts
  }
}
