import { type Kysely, sql } from 'kysely'

/** One-time links with which people choose a password; as whom the person of a session acts. */
export async function up (db: Kysely<unknown>): Promise<void> {
  for (const part of [links, acting]) await sql.raw(part).execute(db)
}

const own = 'company_id = (select nullif(current_setting(\'app.company\', true), \'\')::integer)'

// Only a digest of the secret in the link is kept. An invitation says who the user will be; a link for a new password counts as long as
// the password is the one of that time.
const links = `
create table one_time_links (
  link_id uuid primary key,
  company_id integer not null references companies,
  purpose text not null check (purpose in ('invitation', 'password')),
  digest bytea not null unique,
  email text,
  role text check (role in ('member', 'admin', 'operator')),
  services text[],
  user_id integer references users,
  password_version integer,
  made_by integer not null references users,
  made_at timestamptz not null,
  expires_at timestamptz not null,
  check ((purpose = 'invitation') = (email is not null and role is not null and services is not null)),
  check ((purpose = 'password') = (user_id is not null and password_version is not null))
);
create unique index one_time_links_email on one_time_links (company_id, email) where purpose = 'invitation';
create unique index one_time_links_user on one_time_links (user_id) where purpose = 'password';
grant select, insert, update (digest, made_by, made_at, expires_at), delete on one_time_links to dispatch_company;
alter table one_time_links enable row level security;
create policy company on one_time_links to dispatch_company using (${own}) with check (${own});`

// Null: for themselves. The password version is the user's at that time: a change ends it.
const acting = `
alter table sessions add column acting_user_id integer;
alter table sessions add column acting_password_version integer;
alter table sessions add column acting_until timestamptz;
grant select (acting_user_id, acting_password_version, acting_until), update (acting_user_id, acting_password_version, acting_until) on sessions to dispatch_company;`
