import { type RawBuilder, sql } from 'kysely'
import type { EventKind } from '../../contract/states.ts'
import type { Database } from '../db/database.ts'
import type { SqlTimestamp } from '../db/sql-timestamp.ts'

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

/** Inserts documents of a dispatch: a part of a statement. */
export function insertDocuments (
  companyId: number,
  dispatchId: string,
  documents: readonly NewDocument[],
  now: SqlTimestamp
): RawBuilder<unknown> {
  return sql`
        insert into documents (document_id, company_id, dispatch_id, filename, content_type, size, sha256, pages, storage_key, created_at,
          expires_at)
        select document_id, ${companyId}, ${dispatchId}, filename, content_type, size, sha256, pages, storage_key, ${now}, expires_at
        from jsonb_to_recordset(${JSON.stringify(documents.map(documentRow))}) as document (document_id uuid, filename text, content_type
          text,
          size bigint, sha256 text, pages integer, storage_key text, expires_at timestamptz)`
}

/** A document as calls take it. */
export function documentRow (document: NewDocument): Record<string, unknown> {
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

/** Notes in the timeline of its dispatch, once, that a document was found to be damaged. */
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
    where not exists (select from events where company_id = ${companyId} and dispatch_id = ${dispatchId} and kind = 'damaged'
      and facts ->> 'documentId' = ${documentId})`.execute(queries))
}
