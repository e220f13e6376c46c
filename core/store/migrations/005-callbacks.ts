import { type Kysely, sql } from 'kysely'

/** What companies are told about their dispatches, the secrets that it is signed with, and what is forgotten with time. */
export async function up (db: Kysely<unknown>): Promise<void> {
  for (const part of [callbacks, secrets, retention, isolation]) await sql.raw(part).execute(db)
}

// `body` is exactly what is signed; it is forgotten with the data of requests. `attempts` are all there were, `tries` those
// since the last replay. What is pending is not tried before `next_at`: while it is under way, that is when its process
// must have ended.
const callbacks = `
alter table dispatches add column callback_sequence integer not null default 0;
create table callbacks (
  callback_id uuid primary key,
  company_id integer not null references companies,
  dispatch_id uuid not null references dispatches,
  type text not null,
  sequence integer not null,
  url text not null,
  receiver text not null,
  body text,
  state text not null check (state in ('pending', 'delivered', 'failed', 'stopped')),
  attempts integer not null default 0,
  tries integer not null default 0,
  next_at timestamptz,
  created_at timestamptz not null,
  unique (dispatch_id, sequence),
  check ((state = 'pending') = (next_at is not null)),
  check (state <> 'pending' or body is not null)
);
create index callbacks_due on callbacks (company_id, next_at) where state = 'pending';
create index callbacks_retained on callbacks (created_at) where body is not null;

-- One row per request to a receiver, committed before it; without an outcome when its process ended first.
create table callback_attempts (
  callback_id uuid not null references callbacks,
  number integer not null,
  company_id integer not null references companies,
  at timestamptz not null,
  outcome text check (outcome in ('delivered', 'failed', 'stopped')),
  status integer,
  milliseconds integer,
  reason text,
  primary key (callback_id, number)
);
create index callback_attempts_open on callback_attempts (company_id) where outcome is null;`

// The one without an end is the newest; the others sign beside it until theirs.
const secrets = `
create table callback_secrets (
  secret_id uuid primary key,
  company_id integer not null references companies,
  user_id integer references users,
  impersonator_id integer references users,
  sealed jsonb not null,
  created_at timestamptz not null,
  expires_at timestamptz
);
create unique index callback_secrets_current on callback_secrets (company_id) where expires_at is null;
create index callback_secrets_company on callback_secrets (company_id, created_at desc);`

const retention = `
alter table documents add column removed_at timestamptz;
create index documents_kept on documents (expires_at) where removed_at is null;
create index dispatches_retained on dispatches (created_at) where data is not null;
create index idempotency_keys_age on idempotency_keys (created_at);`

const grants: Record<string, string> = {
  callbacks: 'select, insert, update',
  callback_attempts: 'select, insert, update',
  callback_secrets: 'select, insert, update, delete'
}

const own = 'company_id = (select nullif(current_setting(\'app.company\', true), \'\')::integer)'

const isolation = Object.entries(grants).map(([table, rights]) => `
grant ${rights} on ${table} to dispatch_company;
alter table ${table} enable row level security;
create policy company on ${table} to dispatch_company using (${own}) with check (${own});`).join('')
