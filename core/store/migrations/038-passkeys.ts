import { type Kysely, sql } from 'kysely'

/** Passkeys of people (WebAuthn), and the challenges that they are asked with. */
export async function up (db: Kysely<unknown>): Promise<void> {
  await sql.raw(passkeys).execute(db)
}

const own = 'company_id = (select nullif(current_setting(\'app.company\', true), \'\')::integer)'

// `user_id` of a challenge: whom it is for; null: for anybody who signs in with a passkey alone. Only a digest of it is kept.
const passkeys = `
create table passkeys (
  passkey_id uuid primary key,
  company_id integer not null references companies,
  user_id integer not null references users,
  credential text not null unique,
  public_key bytea not null,
  counter bigint not null,
  transports text[] not null,
  name text not null,
  created_at timestamptz not null,
  used_at timestamptz
);
create table passkey_challenges (
  digest bytea primary key,
  use text not null check (use in ('registration', 'sign-in')),
  user_id integer references users,
  expires_at timestamptz not null
);
create index passkeys_company on passkeys (company_id);
create index passkeys_user on passkeys (user_id);
create index passkey_challenges_expiry on passkey_challenges (expires_at);
grant select, insert, update (name, counter, used_at), delete on passkeys to dispatch_company;
alter table passkeys enable row level security;
create policy company on passkeys to dispatch_company using (${own}) with check (${own});`
