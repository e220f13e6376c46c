import type { Database } from '@dispatch/database'
import { columns, type Tables } from '@dispatch/tables'
import { type Selectable, sql } from 'kysely'

/** How many entries of an hour a log has not kept: of a subject, such as a route, with a result, such as a status. */
export type LogCount = Omit<Selectable<Tables['log_counts']>, 'count'> & { count: number }

/** Adds counts. All processes add theirs in one order, so that none waits for another that waits for it. */
export async function addLogCounts ({ owner }: Database, counts: readonly LogCount[]): Promise<void> {
  await sql`
    insert into log_counts (company_id, log, hour, subject, result, count)
    select company_id, log, hour, subject, result, count
    from (select set_config('synchronous_commit', 'off', true)) as setting, json_to_recordset(${JSON.stringify(counts)}::json) as row
      (company_id integer, log text, hour timestamptz, subject text, result text, count bigint)
      join companies using (company_id)
    order by company_id, hour, log, subject, result for key share of companies
    on conflict (company_id, hour, log, subject, result) do update set count = log_counts.count + excluded.count`.execute(owner)
}

/** The newest counts of a company, those of an hour by their number. */
export async function listLogCounts (database: Database, companyId: number, limit: number): Promise<LogCount[]> {
  const rows = await database.reading(companyId,
    (queries) =>
      queries.selectFrom('log_counts').select(columns.log_counts).where('company_id', '=', companyId)
        .orderBy('hour', 'desc').orderBy('count', 'desc').limit(limit).execute())
  return rows.map((row) => ({ ...row, count: Number(row.count) }))
}
