import { type Kysely, sql } from 'kysely'

/**
 * The steps with an error, and its word, by which dispatches are found. Under row-level security no index serves a part of a `jsonb`, so
 * the view reads the table as its owner, and of the company alone whose transaction it is. It adds no column: no row is written for it,
 * and what older processes write is found. Its index, `steps_errors`, is made while everybody works (concurrent-indexes.ts).
 */
export async function up (db: Kysely<unknown>): Promise<void> {
  await sql`create view step_errors as
    select company_id, dispatch_id, service, provider_code, status, delivery_status, marks, error, error->>'word' as word from steps
    where error is not null and company_id = (select nullif(current_setting('app.company', true), '')::integer)`.execute(db)
  await sql`grant select on step_errors to dispatch_company`.execute(db)
}
