import type { CompanyQueries, Database } from '@dispatch/database'
import { type RawBuilder, sql } from 'kysely'

/** Which of these files are named by what waits of a company, such as drafts, each by how many: they are kept as long. */
export type FileUse = (companyId: number, fileIds: readonly string[]) => Promise<ReadonlyMap<string, number>>

/** By how many requests that wait each of these files is named. `requests`: a query of one column, each a request in JSON. */
export async function filesNamedIn (
  queries: CompanyQueries,
  requests: RawBuilder<unknown>,
  fileIds: readonly string[]
): Promise<Map<string, number>> {
  const { rows } = await sql<{ id: string, count: number }>`select id, count(*)::integer from (${requests}) as waiting (request),
    lateral (select distinct lower(found[1]) as id
      from regexp_matches(request::text, '"fileId": ?"([0-9a-fA-F-]{36})"', 'g') as found) as named
    where id = any (${[...fileIds]}::text[]) group by id`.execute(queries)
  return new Map(rows.map(({ id, count }) => [id, count]))
}

/** Those of dispatches that are sent later, and of steps that wait for an event or may be tried again after it. */
export function scheduledFileUse (database: Database): FileUse {
  return (companyId, fileIds) =>
    database.company(companyId, (queries) =>
      filesNamedIn(queries, sql`select fields from dispatches join steps using (company_id, dispatch_id)
        where company_id = ${companyId} and dispatches.status = 'queued' and dispatches.schedule->>'dueAt' is not null
        union all select fields from steps
        where company_id = ${companyId} and deferred_on is not null and status in ('waiting', 'planned', 'unavailable')`, fileIds))
}
