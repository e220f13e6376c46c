import { companyTable } from '@dispatch/plugins/feature'
import { type Kysely, sql } from 'kysely'

/** Requests that people have begun to write. */
export async function up (db: Kysely<unknown>): Promise<void> {
  await sql.raw(table).execute(db)
  await companyTable(db, 'drafts')
}

const table = `
create table drafts (
  draft_id uuid not null,
  company_id integer not null references companies,
  user_id integer not null references users,
  service text not null,
  request jsonb not null,
  sandbox boolean not null,
  shared boolean not null,
  dispatch_id uuid,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  primary key (company_id, draft_id)
);
create index drafts_author on drafts (company_id, user_id, updated_at desc);
create index drafts_shared on drafts (company_id, updated_at desc) where shared;
create index drafts_age on drafts (updated_at)`
