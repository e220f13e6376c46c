import { type Kysely, sql } from 'kysely'

/**
 * Endpoints of companies, which receive callbacks beside the address of a dispatch. Their callbacks stand in tables of their own: processes
 * of the release before do not send them, and the large tables need no new index.
 */
export async function up (db: Kysely<unknown>): Promise<void> {
  await sql.raw(endpoints).execute(db)
}

const own = 'company_id = (select nullif(current_setting(\'app.company\', true), \'\')::integer)'

// `types` null: all. `secrets`: an array, the newest first; the one without an end is the current one. `failing_since`: the first failure
// after the last delivery. A removed endpoint keeps its callbacks, without its secrets. Of endpoint_callbacks the columns are those of
// callbacks; `sequence` counts the callbacks of a dispatch to an endpoint.
const endpoints = `
create table callback_endpoints (
  endpoint_id uuid primary key,
  company_id integer not null references companies,
  name text not null,
  url text not null,
  types text[],
  enabled boolean not null,
  secrets jsonb not null,
  failing_since timestamptz,
  created_at timestamptz not null,
  removed_at timestamptz
);
create index callback_endpoints_company on callback_endpoints (company_id, endpoint_id) where removed_at is null;
create table endpoint_callbacks (
  callback_id uuid primary key,
  company_id integer not null references companies,
  endpoint_id uuid not null references callback_endpoints,
  dispatch_id uuid references dispatches,
  type text not null,
  sequence integer not null,
  receiver text not null,
  body text,
  state text not null check (state in ('pending', 'delivered', 'failed', 'stopped')),
  attempts integer not null default 0,
  tries integer not null default 0,
  next_at timestamptz,
  created_at timestamptz not null,
  unique (endpoint_id, dispatch_id, sequence),
  check ((state = 'pending') = (next_at is not null)),
  check (state <> 'pending' or body is not null)
);
create index endpoint_callbacks_due on endpoint_callbacks (company_id, next_at) where state = 'pending';
create index endpoint_callbacks_newest on endpoint_callbacks (endpoint_id, callback_id desc);
create index endpoint_callbacks_retained on endpoint_callbacks (created_at) where body is not null;
create table endpoint_attempts (
  callback_id uuid not null references endpoint_callbacks,
  number integer not null,
  company_id integer not null references companies,
  at timestamptz not null,
  outcome text check (outcome in ('delivered', 'failed', 'stopped')),
  status integer,
  milliseconds integer,
  reason text,
  primary key (callback_id, number)
);
create index endpoint_attempts_open on endpoint_attempts (company_id) where outcome is null;
grant select, insert, update on callback_endpoints, endpoint_callbacks, endpoint_attempts to dispatch_company;
alter table callback_endpoints enable row level security;
create policy company on callback_endpoints to dispatch_company using (${own}) with check (${own});
alter table endpoint_callbacks enable row level security;
create policy company on endpoint_callbacks to dispatch_company using (${own}) with check (${own});
alter table endpoint_attempts enable row level security;
create policy company on endpoint_attempts to dispatch_company using (${own}) with check (${own});`
