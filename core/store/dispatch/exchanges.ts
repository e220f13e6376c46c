import type { Database } from '@dispatch/database'
import { columns, sealed, type Tables } from '@dispatch/tables'
import { type Selectable, sql } from 'kysely'

export type ExchangeRow = Selectable<Tables['exchange_log']>

/**
 * Adds calls in one statement whose commit does not wait for the disk: a crash may lose the last ones. Those that are there, because the
 * answer to an earlier commit was lost, stay. Those of a company that is gone, or whose data key is away, are lost.
 */
export async function insertExchanges ({ owner }: Database, given: readonly ExchangeRow[]): Promise<void> {
  const asStored = given.map(async (row) => ({ ...row, exchanges: await sealed(owner, row.company_id, row.exchanges) }))
  const rows = (await Promise.allSettled(asStored)).flatMap((row) => row.status === 'fulfilled' ? [row.value] : [])
  await sql`
    insert into exchange_log (entry_id, company_id, dispatch_id, service, provider, outcome, exchanges)
    select entry_id, company_id, dispatch_id, service, provider, outcome, exchanges
    from (select set_config('synchronous_commit', 'off', true)) as setting, jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) as row
      (entry_id uuid, company_id integer, dispatch_id uuid, service text, provider text, outcome text, exchanges jsonb)
      join companies using (company_id) for key share of companies
    on conflict do nothing`.execute(owner)
}

/** The calls for a dispatch of the company, the newest first. */
export async function listExchanges (
  database: Database,
  companyId: number,
  dispatchId: string,
  page: { limit: number, after?: string }
): Promise<ExchangeRow[]> {
  return database.company(companyId, (queries) =>
    queries.selectFrom('exchange_log').select(columns.exchange_log)
      .where('company_id', '=', companyId).where('dispatch_id', '=', dispatchId)
      .$if(page.after !== undefined, (query) => query.where('entry_id', '<', page.after ?? ''))
      .orderBy('entry_id', 'desc').limit(page.limit).execute())
}
