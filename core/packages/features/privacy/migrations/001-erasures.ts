import { companyTable } from '@dispatch/plugins/feature'
import { type Kysely, sql } from 'kysely'

/** Persons whose data companies have erased. */
export async function up (db: Kysely<unknown>): Promise<void> {
  await sql.raw(erasures).execute(db)
  await companyTable(db, 'erasures')
}

// `subject`: who it is, sealed; nobody knows it once it is finished. `author`: who asked for it, as the audit log has them. `holder` and
// `place`: where the next look begins. `passing`: what of this pass is still under way, and `waiting` of the one before. `receipt`: the
// text whose SHA-256 stands in the audit log.
const erasures = `
create table erasures (
  erasure_id uuid not null unique,
  company_id integer not null references companies,
  user_id integer not null references users,
  status text not null check (status in ('counting', 'counted', 'running', 'finished')),
  subject jsonb,
  identified_by text[] not null,
  person text not null,
  author jsonb,
  counts jsonb not null default '{}',
  holder text,
  place text,
  passing integer not null default 0,
  passes integer not null default 0,
  waiting integer not null default 0,
  receipt text,
  sha256 text,
  next_at timestamptz,
  claim uuid,
  created_at timestamptz not null,
  begun_at timestamptz,
  finished_at timestamptz,
  primary key (company_id, erasure_id),
  check ((status = 'finished') = (receipt is not null and subject is null))
);
create index erasures_due on erasures (next_at) where next_at is not null;
create index erasures_counted on erasures (created_at) where status = 'counted';`
