import type { CompanyQueries, Database } from '@dispatch/database'
import { type RawBuilder, sql } from 'kysely'

/**
 * Which of these files are named by what waits of a company, such as drafts, each by how many: they are kept as long. `limit`: so many
 * requests are looked into; absent: all.
 */
export type FileUse = (companyId: number, fileIds: readonly string[], most?: number) => Promise<ReadonlyMap<string, number>>

/** By how many that wait each of these files is named. `requests`: a query of two columns, what waits and a request of it in JSON. */
export async function filesNamedIn (
  queries: CompanyQueries,
  requests: RawBuilder<unknown>,
  { fileIds, limit }: { fileIds: readonly string[], limit: number | undefined }
): Promise<Map<string, number>> {
  const { rows } = await sql<{ id: string, count: number }>`select lower(found[1]) as id, count(distinct waiting)::integer as count
    from (${requests} limit ${limit ?? null}::bigint) as requests (waiting, request),
      regexp_matches(request::text, '"fileId": ?"([0-9a-fA-F-]{36})"', 'g') as found
    where lower(found[1]) = any (${[...fileIds]}::text[]) group by 1`.execute(queries)
  return new Map(rows.map(({ id, count }) => [id, count]))
}

/** Those of dispatches that are sent later, and of steps that wait for an event or may be tried again after it. */
export function scheduledFileUse (database: Database): FileUse {
  return (companyId, fileIds, limit) =>
    database.company(companyId, (queries) =>
      filesNamedIn(queries, sql`select dispatch_id, fields from dispatches join steps using (company_id, dispatch_id)
        where company_id = ${companyId} and dispatches.status = 'queued' and dispatches.schedule->>'dueAt' is not null
        union all select dispatch_id, fields from steps
        where company_id = ${companyId} and deferred_on is not null and status in ('waiting', 'planned', 'unavailable')`, {
        fileIds,
        limit
      }))
}
