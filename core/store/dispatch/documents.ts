import { sql } from 'kysely'
import type { EventKind } from '../../contract/states.ts'
import type { Database } from '../db/database.ts'

/** `size` in bytes; `sha256` in lowercase hexadecimal. */
export type NewDocument = {
  documentId: string
  filename: string
  contentType: string
  size: number
  sha256: string
  pages?: number
  storageKey: string
  expiresAt: Date
}

/** A document as the functions of the database take it. */
export function documentRow (document: NewDocument) {
  return {
    document_id: document.documentId,
    filename: document.filename,
    content_type: document.contentType,
    size: document.size,
    sha256: document.sha256,
    pages: document.pages,
    storage_key: document.storageKey,
    expires_at: document.expiresAt
  }
}

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
