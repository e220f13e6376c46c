import { type Kysely, sql } from 'kysely'

/** Sessions of people at the console. */
export async function up (db: Kysely<unknown>): Promise<void> {
  await sql.raw(sessions).execute(db)
}

// Only a digest of the random id in the cookie is kept. Role and password version are those of the sign-in: a change ends the session.
const sessions = `
create table sessions (
  session_id uuid primary key,
  company_id integer not null references companies,
  user_id integer not null references users,
  digest bytea not null unique,
  role text not null,
  password_version integer not null,
  address text not null,
  browser text not null,
  created_at timestamptz not null,
  used_at timestamptz not null
);
create index sessions_user on sessions (user_id, session_id desc);
grant select (session_id, company_id, user_id, role, password_version, address, browser, created_at, used_at), insert, delete on sessions to dispatch_company;
alter table sessions enable row level security;
create policy company on sessions to dispatch_company using (company_id = (select nullif(current_setting('app.company', true), '')::integer))
  with check (company_id = (select nullif(current_setting('app.company', true), '')::integer));`
