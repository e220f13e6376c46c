import { type Kysely, sql } from 'kysely'

/**
 * Which invoices a report has, so that none is lost in a correction; and what was known last of the dispatch that sends it, which is
 * forgotten before.
 */
export async function up (db: Kysely<unknown>): Promise<void> {
  await sql`alter table e_reports
    add column counted jsonb not null default '[]',
    add column last_status text,
    add column last_delivery text`.execute(db)
  await sql`create index e_reports_dispatch on e_reports (company_id, dispatch_id)`.execute(db)
}
