import { companyTable } from '@dispatch/plugins/feature'
import { type Kysely, sql } from 'kysely'

/** Batches of companies, and their rows. */
export async function up (db: Kysely<unknown>): Promise<void> {
  for (const part of [batches, rows]) await sql.raw(part).execute(db)
  await companyTable(db, 'batches')
  await companyTable(db, 'batch_rows')
}

// `status` 'receiving': its rows still come in, and nobody sees it. `is_open`: there is something to do. `claimed_until`: a process works
// on it until then. `key`: the API key that it came with. `services`: those of its path; `permitted`: all that who sent it could use then.
// The counts are those of its rows by their states. `told`: the tenth of which a callback has told last.
const batches = `
create table batches (
  batch_id uuid not null unique,
  company_id integer not null references companies,
  user_id integer not null references users,
  impersonator_id integer references users,
  key jsonb,
  services text[] not null,
  permitted text[] not null,
  test boolean not null,
  mode text not null check (mode in ('all', 'valid')),
  sandbox boolean not null,
  strict boolean not null,
  api_version text not null,
  request_id text not null,
  callback_url text,
  common text,
  idempotency_key text,
  fingerprint text,
  status text not null
    check (status in ('receiving', 'checking', 'queued', 'running', 'paused', 'finished', 'cancelled', 'refused')),
  problem text,
  is_open boolean not null default false,
  total integer not null default 0,
  unchecked integer not null default 0 check (unchecked >= 0),
  waiting integer not null default 0 check (waiting >= 0),
  handing integer not null default 0 check (handing >= 0),
  running integer not null default 0 check (running >= 0),
  succeeded integer not null default 0 check (succeeded >= 0),
  failed integer not null default 0 check (failed >= 0),
  partial integer not null default 0 check (partial >= 0),
  uncertain integer not null default 0 check (uncertain >= 0),
  cancelled integer not null default 0 check (cancelled >= 0),
  refused integer not null default 0 check (refused >= 0),
  credits bigint not null default 0,
  told integer not null default 0,
  retried_by jsonb,
  claim uuid,
  claimed_until timestamptz,
  worked_at timestamptz not null,
  created_at timestamptz not null,
  checked_at timestamptz,
  ended_at timestamptz,
  primary key (company_id, batch_id)
);
create unique index batches_keys on batches (company_id, idempotency_key) where idempotency_key is not null;
create index batches_open on batches (worked_at) where is_open;
create index batches_ended on batches (ended_at) where ended_at is not null;
create index batches_receiving on batches (worked_at) where status = 'receiving';`

// `handing`: a process hands it to the queue at this moment. `body` is forgotten once its dispatch has it.
const rows = `
create table batch_rows (
  batch_id uuid not null,
  number integer not null,
  company_id integer not null references companies,
  row_id text,
  body text,
  state text not null check (state in
    ('unchecked', 'waiting', 'handing', 'running', 'succeeded', 'failed', 'partial', 'uncertain', 'cancelled', 'refused')),
  problem text,
  dispatch_id uuid,
  tries smallint not null default 0,
  fed_at timestamptz,
  primary key (company_id, batch_id, number),
  foreign key (company_id, batch_id) references batches (company_id, batch_id) on delete cascade
);
create index batch_rows_unchecked on batch_rows (company_id, batch_id, number) where state = 'unchecked';
create index batch_rows_waiting on batch_rows (company_id, batch_id, number) where state = 'waiting';
create index batch_rows_under_way on batch_rows (company_id, batch_id, number) where state in ('handing', 'running');`
