import type { StatusClass } from '@dispatch/contract'
import { type Database, firstIdOf } from '@dispatch/database'
import { columns, type Tables } from '@dispatch/tables'
import { type Selectable, sql } from 'kysely'

export type RequestRow = Selectable<Tables['request_log']>

/** Adds requests in one statement whose commit does not wait for the disk: a crash may lose the last ones. */
export async function insertRequests ({ owner }: Database, rows: readonly RequestRow[]): Promise<void> {
  await sql`
    insert into request_log (entry_id, company_id, user_id, impersonator_id, key_id, request_id, method, route, path, status, error,
      milliseconds, address, test)
    select entry_id, company_id, user_id, impersonator_id, key_id, request_id, method, route, path, status, error, milliseconds, address,
      test
    from (select set_config('synchronous_commit', 'off', true)) as setting, json_to_recordset(${JSON.stringify(rows)}::json) as row
      (entry_id uuid, company_id integer, user_id integer, impersonator_id integer, key_id uuid, request_id text, method text, route text,
      path text, status smallint, error text, milliseconds real, address text, test boolean)
      join companies using (company_id) for key share of companies
    on conflict do nothing`.execute(owner)
}

/** Which requests are wanted; times are inclusive from, exclusive to. `test`: only tests, or none. */
export type RequestFilter = {
  requestId?: string
  status?: StatusClass
  route?: string
  keyId?: string
  test?: boolean
  from?: Date
  to?: Date
}

/** A page of the requests of a company, the newest first; the id of the last of a page is its cursor. */
export async function listRequests (
  database: Database,
  companyId: number,
  { requestId, status, route, keyId, test, from, to }: RequestFilter,
  page: { limit: number, after?: string }
): Promise<RequestRow[]> {
  const lowest = status === undefined ? 0 : Number(status[0]) * 100
  return database.reading(companyId,
    (queries) =>
      queries.selectFrom('request_log').select(columns.request_log).where('company_id', '=', companyId)
        .$if(requestId !== undefined, (query) => query.where('request_id', '=', requestId ?? ''))
        .$if(status !== undefined, (query) => query.where('status', '>=', lowest).where('status', '<', lowest + 100))
        .$if(route !== undefined, (query) => query.where('route', '=', route ?? ''))
        .$if(keyId !== undefined, (query) => query.where('key_id', '=', keyId ?? ''))
        .$if(test !== undefined, (query) => query.where('test', '=', test ?? false))
        .$if(from !== undefined, (query) => query.where('entry_id', '>=', firstIdOf(from ?? new Date(0))))
        .$if(to !== undefined, (query) => query.where('entry_id', '<', firstIdOf(to ?? new Date(0))))
        .$if(page.after !== undefined, (query) => query.where('entry_id', '<', page.after ?? ''))
        .orderBy('entry_id', 'desc').limit(page.limit).execute())
}
