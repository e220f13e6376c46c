import { companyTable } from '@dispatch/plugins/feature'
import { type Kysely, sql } from 'kysely'

/** What the templates of a company share: blocks that they include, and pages that they have. */
export async function up (db: Kysely<unknown>): Promise<void> {
  await sql.raw(table).execute(db)
  await companyTable(db, 'partials')
}

// Versions of templates have in them what they include: of a partial the newest version is enough.
const table = `
create table partials (
  company_id integer not null references companies,
  name text not null,
  kind text not null check (kind in ('partial', 'layout')),
  version integer not null,
  yaml text not null,
  source jsonb not null,
  user_id integer,
  updated_at timestamptz not null,
  primary key (company_id, name)
);`
