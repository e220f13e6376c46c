import type { EventKind } from '@dispatch/contract'
import type { Database } from '@dispatch/database'
import { sql } from 'kysely'

/** Records in the timeline of its dispatch, once, that a document is damaged. */
export async function noteDamage (
  database: Database,
  { company_id: companyId, dispatch_id: dispatchId, document_id: documentId }: {
    company_id: number
    dispatch_id: string
    document_id: string
  }
): Promise<void> {
  await database.company(companyId, (queries) =>
    sql`
    insert into events (company_id, dispatch_id, kind, actor, facts, at)
    select ${companyId}, ${dispatchId}, ${'damaged' satisfies EventKind}, '{"kind":"system"}', ${JSON.stringify({ documentId })},
      ${database.now}
    from dispatches where company_id = ${companyId} and dispatch_id = ${dispatchId}
      and not exists (select from events where company_id = ${companyId} and dispatch_id = ${dispatchId} and kind = 'damaged'
        and facts ->> 'documentId' = ${documentId}) for key share of dispatches`.execute(queries))
}
