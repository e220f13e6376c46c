import { type Kysely, sql } from 'kysely'

/** Who mails one-time links, and which dispatch has mailed a link. */
export async function up (db: Kysely<unknown>): Promise<void> {
  await sql.raw(linkMail).execute(db)
}

const own = 'company_id = (select nullif(current_setting(\'app.company\', true), \'\')::integer)'

// The service has one row at most. The user is the operator who has set it: mails are dispatches of theirs.
const linkMail = `
create table link_mail (
  company_id integer primary key references companies,
  user_id integer not null references users,
  provider text not null,
  sender text not null,
  set_at timestamptz not null
);
grant select, insert, update, delete on link_mail to dispatch_company;
alter table link_mail enable row level security;
create policy company on link_mail to dispatch_company using (${own}) with check (${own});
alter table one_time_links add column dispatch_id uuid;
grant update (dispatch_id) on one_time_links to dispatch_company;`
