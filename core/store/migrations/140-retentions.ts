import { companyTable } from '@dispatch/tables'
import { type Kysely, sql } from 'kysely'

/** For how many days companies keep their data: where that is shorter than what the operator says for all. */
export async function up (db: Kysely<unknown>): Promise<void> {
  await sql.raw(retentions).execute(db)
  await companyTable(db, 'retentions')
}

// `days`: of the services that `services` does not name; null: as the operator says.
const retentions = `
create table retentions (
  company_id integer primary key references companies,
  days integer check (days > 0),
  services jsonb not null
);`
