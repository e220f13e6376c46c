import { companyTable } from '@dispatch/plugins/feature'
import { type Kysely, sql } from 'kysely'

/** How companies look: what they say of it, and each version with which dispatches were accepted. */
export async function up (db: Kysely<unknown>): Promise<void> {
  await sql.raw(tables).execute(db)
  for (const table of ['brands', 'brand_versions', 'brand_logos']) await companyTable(db, table)
}

// `logo`: the SHA-256 of a picture in `brand_logos`. What a version was is kept: a dispatch that is repeated makes the same document.
const tables = `
create table brands (
  company_id integer primary key references companies,
  settings jsonb not null,
  logo text,
  updated_at timestamptz not null
);
create trigger brands_change after insert or update or delete on brands for each row execute function note_change();
create table brand_versions (
  company_id integer not null references companies,
  version integer not null,
  digest text not null,
  content jsonb not null,
  logo text,
  created_at timestamptz not null,
  primary key (company_id, version),
  unique (company_id, digest)
);
create table brand_logos (
  company_id integer not null references companies,
  sha256 text not null,
  uri text not null,
  primary key (company_id, sha256)
);`
