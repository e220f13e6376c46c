import { type Kysely, sql } from 'kysely'

/** Keys of programs, what keeps clients within their limits, and dispatches of test keys. */
export async function up (db: Kysely<unknown>): Promise<void> {
  for (const part of [keys, limits, tests]) await sql.raw(part).execute(db)
}

// Only a digest of the key is kept; `services` null: all of the user's. A use changes nothing that processes cache.
const keys = `
create table api_keys (
  key_id uuid primary key,
  company_id integer not null references companies,
  user_id integer not null references users,
  name text not null,
  mode text not null check (mode in ('live', 'test')),
  services text[],
  digest bytea not null unique,
  beginning text not null,
  ending text not null,
  created_at timestamptz not null,
  expires_at timestamptz,
  last_used_at timestamptz,
  revoked_at timestamptz
);
create index api_keys_company on api_keys (company_id, key_id desc) where revoked_at is null;
create trigger api_keys_change after insert or delete or update of revoked_at on api_keys for each row execute function note_change();
grant select (key_id, company_id, user_id, name, mode, services, beginning, ending, created_at, expires_at, last_used_at, revoked_at), insert, update (revoked_at) on api_keys to dispatch_company;
alter table api_keys enable row level security;
create policy company on api_keys to dispatch_company using (company_id = (select nullif(current_setting('app.company', true), '')::integer))
  with check (company_id = (select nullif(current_setting('app.company', true), '')::integer));`

// Counters of a minute or a quarter of an hour, as rate-limiter-flexible keeps them: unlogged, because a crash may forget them,
// and a commit need not wait for the disk. Where an account was logged in from must outlive that.
const limits = `
create unlogged table limits (
  key varchar(255) primary key,
  points integer not null,
  expire bigint
);
create index limits_expire on limits (expire);
create table known_clients (
  user_id integer not null references users,
  client text not null,
  last_at timestamptz not null,
  primary key (user_id, client)
);`

// What a test key has begun stays a test, whoever goes on with it; a provider that stands in for another has no configuration.
const tests = `
alter table dispatches add column test boolean not null default false;
alter table steps drop constraint steps_configured_by_check, add check (configured_by in ('user', 'company', 'nobody'));`
