import { type Kysely, sql } from 'kysely'

/** Companies that were deleted, or are just being deleted. */
export async function up (db: Kysely<unknown>): Promise<void> {
  await sql.raw(deletions).execute(db)
}

// No reference holds the company, which goes. `author`: who asked for it, as the audit log has them, until it is finished. `receipt`: the
// text whose SHA-256 stands in the audit log of the platform.
const deletions = `
create table company_deletions (
  former_company integer primary key,
  name text not null,
  asked_by integer not null,
  author jsonb,
  stage text not null check (stage in ('keys', 'files', 'rows', 'last', 'finished')),
  counts jsonb not null default '{}',
  receipt text,
  sha256 text,
  next_at timestamptz,
  claim uuid,
  created_at timestamptz not null,
  finished_at timestamptz,
  check ((stage = 'finished') = (receipt is not null and author is null))
);
create index company_deletions_due on company_deletions (next_at) where next_at is not null;`
