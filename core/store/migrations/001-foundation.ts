import { type Kysely, sql } from 'kysely'

/** Companies, users, configurations, templates, dispatches, documents, credits, and the role that companies work under. */
export async function up (db: Kysely<unknown>): Promise<void> {
  for (const part of [role, changes, accounts, configurations, templates, dispatches, credits, keys, isolation]) {
    await sql.raw(part).execute(db)
  }
}

// A company's transactions run under this role: it owns nothing, so row-level security holds for it. Roles belong to the whole
// server: another database of it, or an administrator, may have made this one. Who makes a role may not act as it yet (from 16 on).
const role = `
do $$ begin
  if not exists (select from pg_roles where rolname = 'dispatch_company') then
    create role dispatch_company nologin;
  end if;
exception when duplicate_object or unique_violation then null;
end $$;
do $$ begin
  if not pg_has_role(current_user, 'dispatch_company', case when current_setting('server_version_num')::integer < 160000 then 'member' else 'set' end) then
    execute format('grant dispatch_company to %I', current_user);
  end if;
end $$;
grant usage on schema public to dispatch_company;`

// Every change of what processes cache gets the next number. The single counter row is locked until the change commits,
// so numbers become visible in their order and "everything after n" misses nothing. Company 0 stands for all of them.
const changes = `
create table change_counter (only_row boolean primary key default true check (only_row), number bigint not null);
insert into change_counter (number) values (0);
create table changes (company_id integer primary key, number bigint not null);
create index changes_number on changes (number);
create function note_change() returns trigger language plpgsql security definer set search_path = public, pg_temp as $$
declare
  company integer := coalesce(case when tg_op = 'DELETE' then old.company_id else new.company_id end, 0);
  next bigint;
begin
  update change_counter set number = number + 1 returning number into next;
  insert into changes (company_id, number) values (company, next)
    on conflict (company_id) do update set number = excluded.number;
  return null;
end $$;`

const accounts = `
create table companies (
  company_id integer generated always as identity primary key,
  name text not null,
  disabled_at timestamptz,
  created_at timestamptz not null
);
create table users (
  user_id integer generated always as identity primary key,
  company_id integer not null references companies,
  email text not null unique check (email = lower(email)),
  role text not null check (role in ('operator', 'admin', 'member')),
  services text[] not null,
  password_hash text not null,
  password_version integer not null default 1,
  disabled_at timestamptz,
  created_at timestamptz not null
);
create index users_company on users (company_id);
create trigger users_change after insert or update or delete on users for each row execute function note_change();
create trigger companies_change after update on companies for each row execute function note_change();`

const configurations = `
create table choices (
  company_id integer not null references companies,
  user_id integer references users,
  service text not null,
  provider_code text not null,
  updated_at timestamptz not null,
  unique nulls not distinct (company_id, user_id, service)
);
create table configurations (
  company_id integer not null references companies,
  user_id integer references users,
  provider_code text not null,
  settings jsonb not null,
  secrets jsonb not null,
  sandbox boolean not null,
  updated_at timestamptz not null,
  unique nulls not distinct (company_id, user_id, provider_code)
);
create trigger choices_change after insert or update or delete on choices for each row execute function note_change();
create trigger configurations_change after insert or update or delete on configurations for each row execute function note_change();`

const templates = `
create table templates (
  template_id integer primary key,
  company_id integer references companies,
  name text not null,
  version integer not null,
  updated_at timestamptz not null,
  unique nulls not distinct (company_id, name)
);
create table template_versions (
  template_id integer not null references templates,
  version integer not null,
  company_id integer references companies,
  digest text not null,
  source jsonb not null,
  schema jsonb not null,
  sample jsonb not null,
  created_at timestamptz not null,
  primary key (template_id, version)
);
create trigger templates_change after insert or update or delete on templates for each row execute function note_change();`

const dispatches = `
create table dispatches (
  dispatch_id uuid primary key,
  company_id integer not null references companies,
  user_id integer not null references users,
  impersonator_id integer references users,
  status text not null check (status in ('running', 'succeeded', 'failed', 'uncertain')),
  services text[] not null,
  template_id integer not null,
  template_version integer not null,
  data jsonb,
  metadata jsonb not null,
  document_type text,
  document_number text,
  recipient text,
  request_id text not null,
  created_at timestamptz not null,
  finished_at timestamptz
);
create index dispatches_company on dispatches (company_id, dispatch_id desc);
create index dispatches_status on dispatches (company_id, status, dispatch_id desc);
create index dispatches_number on dispatches (company_id, document_number, dispatch_id desc) where document_number is not null;
create index dispatches_recipient on dispatches (company_id, lower(recipient), dispatch_id desc) where recipient is not null;
create index dispatches_metadata on dispatches using gin (metadata jsonb_path_ops) where metadata <> '{}';

create table documents (
  document_id uuid primary key,
  company_id integer not null references companies,
  dispatch_id uuid not null references dispatches,
  filename text not null,
  content_type text not null,
  size bigint not null,
  sha256 text not null,
  pages integer,
  storage_key text not null,
  created_at timestamptz not null,
  expires_at timestamptz not null
);
create index documents_dispatch on documents (dispatch_id);

create table steps (
  step_id uuid primary key,
  company_id integer not null references companies,
  dispatch_id uuid not null references dispatches,
  position integer not null,
  service text not null,
  provider_code text not null,
  provider_version text not null,
  chosen_by text not null check (chosen_by in ('request', 'user', 'company')),
  configured_by text not null check (configured_by in ('user', 'company')),
  sandbox boolean not null,
  fields jsonb not null,
  request_settings jsonb not null,
  price integer not null check (price >= 0),
  held integer not null check (held >= 0),
  charged integer not null default 0 check (charged >= 0),
  status text not null check (status in ('planned', 'calling', 'accepted', 'rejected', 'unavailable', 'uncertain')),
  document_id uuid references documents,
  remote_id text,
  response jsonb,
  error jsonb,
  unique (dispatch_id, position)
);

-- One row per call of a provider, committed before the call.
create table attempts (
  step_id uuid not null references steps,
  number integer not null,
  company_id integer not null references companies,
  provider_version text not null,
  started_at timestamptz not null,
  answered_at timestamptz,
  outcome text check (outcome in ('accepted', 'rejected', 'unavailable', 'uncertain')),
  error jsonb,
  primary key (step_id, number)
);

create table events (
  event_id bigint generated always as identity primary key,
  company_id integer not null references companies,
  dispatch_id uuid not null references dispatches,
  step_id uuid references steps,
  kind text not null,
  actor jsonb not null,
  facts jsonb not null,
  at timestamptz not null
);
create index events_dispatch on events (dispatch_id, event_id);

create table idempotency_keys (
  company_id integer not null references companies,
  key text not null,
  fingerprint text not null,
  dispatch_id uuid not null references dispatches,
  created_at timestamptz not null,
  primary key (company_id, key)
);

-- What a provider remembers for one company.
create table provider_state (
  company_id integer not null references companies,
  provider_code text not null,
  key text not null,
  value jsonb not null,
  updated_at timestamptz not null,
  primary key (company_id, provider_code, key)
);`

const credits = `
create table credits (
  company_id integer primary key references companies,
  balance bigint not null,
  held bigint not null check (held >= 0)
);
create table ledger (
  entry_id bigint generated always as identity primary key,
  company_id integer not null references companies,
  kind text not null check (kind in ('grant', 'debit')),
  amount bigint not null,
  balance bigint not null,
  dispatch_id uuid references dispatches,
  step_id uuid unique references steps,
  reason text not null,
  at timestamptz not null
);
create index ledger_company on ledger (company_id, entry_id desc);`

const keys = `
create table signing_keys (
  key_id text primary key,
  purpose text not null,
  sealed jsonb not null,
  created_at timestamptz not null
);
create index signing_keys_purpose on signing_keys (purpose, created_at);`

const appendOnly = `
create function refuse_change() returns trigger language plpgsql as $$
begin
  raise exception '% is append-only', tg_table_name;
end $$;
create trigger ledger_append_only before update or delete or truncate on ledger for each statement execute function refuse_change();
create trigger events_append_only before update or delete or truncate on events for each statement execute function refuse_change();`

/** What the role of companies may do with each table; rows are bounded by `app.company` besides. */
const grants: Record<string, string> = {
  companies: 'select',
  // Passwords are the owner's: nobody's company needs them.
  users: 'select (user_id, company_id, email, role, services, disabled_at, created_at)',
  choices: 'select, insert, update, delete',
  configurations: 'select, insert, update, delete',
  templates: 'select',
  template_versions: 'select',
  dispatches: 'select, insert, update',
  documents: 'select, insert, update',
  steps: 'select, insert, update',
  attempts: 'select, insert, update',
  events: 'select, insert',
  idempotency_keys: 'select, insert, delete',
  provider_state: 'select, insert, update',
  credits: 'select, update',
  ledger: 'select, insert'
}

/** Tables whose rows without a company are shared: every company reads them, none writes them. */
const shared = new Set(['templates', 'template_versions'])

const own = 'company_id = (select nullif(current_setting(\'app.company\', true), \'\')::integer)'

const isolation = appendOnly + Object.entries(grants).map(([table, rights]) => `
grant ${rights} on ${table} to dispatch_company;
alter table ${table} enable row level security;
create policy company on ${table} to dispatch_company using (${
  shared.has(table) ? `company_id is null or ${own}` : own
}) with check (${own});`).join('')
