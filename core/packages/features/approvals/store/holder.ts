import type { AuditAuthor } from '@dispatch/accounts'
import { type Holder, tableHolder } from '@dispatch/core'
import type { Database } from '@dispatch/database'
import { sql } from 'kysely'
import type { ApprovalRef } from './approvals.ts'

/**
 * What waits for an approval, and what was decided. What waits is ended first, and what is about to be sent ends first. That somebody has
 * approved it, and what came of it, stays.
 */
export function approvalsHolder (database: Database, end: (ref: ApprovalRef, author: AuditAuthor) => Promise<void>): Holder {
  const holder = tableHolder(database, {
    kind: 'approvals',
    table: 'approvals',
    key: sql`approval_id`,
    type: 'uuid',
    // All that whoever asked, and whoever decided, has written.
    text: sql`jsonb_build_array(row->'request', row->'facts', row->'reason', row->'idempotency_key')::text`,
    hidden: ['asker', 'author', 'fingerprint', 'seen', 'told_at', 'mailed_at', 'tell_tries', 'tell_after', 'tries', 'worked_at']
  })
  return {
    ...holder,
    async prepare ({ companyId, author }, ids) {
      for (const approvalId of ids) await end({ companyId, approvalId }, author)
    },
    async erase (queries, { companyId }, ids) {
      const { numAffectedRows: erased = 0n } = await sql`update approvals
        set request = null, facts = facts - 'recipient', reason = null, idempotency_key = null, fingerprint = null, seen = null,
          rules = coalesce((select jsonb_agg(one #- '{consent,seen}' #- '{lapsed,seen}') from jsonb_array_elements(rules) as one), '[]')
        where company_id = ${companyId} and approval_id = any (${ids}::uuid[]) and status not in ('waiting', 'sending')`.execute(queries)
      return { counts: { approvals: Number(erased) }, waiting: ids.length - Number(erased) }
    }
  }
}
