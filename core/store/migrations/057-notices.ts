import { type Kysely, sql } from 'kysely'

/** What people are told of: how they sign in, their keys and their secrets were changed. */
export async function up (db: Kysely<unknown>): Promise<void> {
  await sql.raw(notices).execute(db)
}

const own = 'company_id = (select nullif(current_setting(\'app.company\', true), \'\')::integer)'

// The e-mail address is the one of before the change: whoever has changed it must not be the one who is told.
const notices = `
create table notices (
  notice_id bigint generated always as identity,
  company_id integer not null references companies,
  user_id integer not null references users,
  email text not null,
  action text not null,
  by_user_id integer,
  address text,
  at timestamptz not null,
  mailed_at timestamptz,
  primary key (company_id, notice_id)
);
create index notices_user on notices (company_id, user_id, notice_id desc);
create index notices_waiting on notices (notice_id) where mailed_at is null;
grant select, insert, update (mailed_at), delete on notices to dispatch_company;
alter table notices enable row level security;
create policy company on notices to dispatch_company using (${own}) with check (${own});`
