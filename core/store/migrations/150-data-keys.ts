import { companyTable } from '@dispatch/tables'
import { type Kysely, sql } from 'kysely'

/**
 * Which key seals the documents of a company. The key itself is in no database, so that no backup of one brings it back. A company
 * without a row gets a key with its first document.
 */
export async function up (db: Kysely<unknown>): Promise<void> {
  await sql.raw(keys).execute(db)
  await companyTable(db, 'data_keys')
}

const keys = `
create table data_keys (
  company_id integer primary key references companies,
  key_id uuid not null,
  created_at timestamptz not null
);`
