import { companyTable } from '@dispatch/plugins/feature'
import { type Kysely, sql } from 'kysely'

/** To whom documents go, and who companies are on them. */
export async function up (db: Kysely<unknown>): Promise<void> {
  await sql.raw(tables).execute(db)
  await companyTable(db, 'contacts')
  await companyTable(db, 'own_details')
}

const tables = `
create table contacts (
  company_id integer not null references companies,
  contact_id uuid not null,
  name text not null,
  details jsonb not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  primary key (company_id, contact_id)
);
create index contacts_name on contacts (company_id, lower(name), contact_id);
create table own_details (
  company_id integer primary key references companies,
  details jsonb not null
)`
