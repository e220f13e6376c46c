import { companyTable } from '@dispatch/tables'
import { type Kysely, sql } from 'kysely'

/** The batch of which a dispatch is a row, and the batches of which no dispatch may begin: those wait in the queue as they are. */
export async function up (db: Kysely<unknown>): Promise<void> {
  await sql.raw(`alter table dispatches add column in_batch uuid;
create table paused_batches (
  company_id integer not null references companies,
  batch_id uuid not null,
  primary key (company_id, batch_id)
);`).execute(db)
  await companyTable(db, 'paused_batches')
}
