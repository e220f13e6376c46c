import type { FileUse } from '@dispatch/core'
import type { CompanyQueries, Database } from '@dispatch/database'
import { sql } from 'kysely'
import type { BatchRef } from './batches.ts'

/** The ids of the files that a request in JSON names. */
export function filesIn (request: string): string[] {
  return [...request.matchAll(/"fileId":"([0-9a-f-]{36})"/gi)].map(([, id = '']) => id.toLowerCase()).filter((id) => uuid.test(id))
}

const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

/** Notes files that a batch names. */
export async function noteFiles (queries: CompanyQueries, { companyId, batchId }: BatchRef, fileIds: readonly string[]): Promise<void> {
  if (fileIds.length === 0) return
  await sql`insert into batch_files (company_id, batch_id, file_id)
    select ${companyId}, ${batchId}, file_id from unnest(${[...fileIds]}::uuid[]) as file_id on conflict do nothing`.execute(queries)
}

/** Those of batches that are not over. */
export function batchFileUse (database: Database): FileUse {
  return (companyId, fileIds) =>
    database.company(companyId, async (queries) => {
      const { rows } = await sql<{ file_id: string, count: number }>`select file_id, count(distinct batch_id)::integer
        from batch_files join batches using (company_id, batch_id)
        where company_id = ${companyId} and file_id = any (${[...fileIds]}::uuid[])
          and status not in ('finished', 'cancelled', 'refused') group by file_id`.execute(queries)
      return new Map(rows.map((row) => [row.file_id, row.count]))
    })
}
