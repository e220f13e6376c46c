import { companyTable } from '@dispatch/plugins/feature'
import { type Kysely, sql } from 'kysely'

/** Files that companies have uploaded for their dispatches. */
export async function up (db: Kysely<unknown>): Promise<void> {
  await sql.raw(files).execute(db)
  await companyTable(db, 'files')
}

// The ids begin with their time. `test`: uploaded with a test key. `removed_at`: nobody gets it any more, and its bytes are being removed.
const files = `
create table files (
  file_id uuid not null,
  company_id integer not null references companies,
  user_id integer not null references users,
  test boolean not null,
  filename text not null,
  content_type text not null,
  size bigint not null,
  sha256 text not null,
  storage_key text not null,
  created_at timestamptz not null,
  expires_at timestamptz not null,
  removed_at timestamptz,
  primary key (company_id, file_id)
);
create index files_expiry on files (expires_at)`
