import { type Kysely, sql } from 'kysely'

/** Logins of devices that wait for a person. They are nobody's until somebody has decided. */
export async function up (db: Kysely<unknown>): Promise<void> {
  await sql.raw(table).execute(db)
}

// `key`: what was granted, without the key itself, which is made when the device takes it.
const table = `
create table device_logins (
  login_id uuid primary key,
  digest bytea not null unique,
  user_code text not null unique,
  client text not null,
  scopes text[] not null,
  address text not null,
  interval_seconds integer not null,
  asked_at timestamptz,
  created_at timestamptz not null,
  expires_at timestamptz not null,
  decision text check (decision in ('granted', 'declined')),
  user_id integer references users,
  password_version integer,
  key jsonb
);
create index device_logins_age on device_logins (expires_at)`
