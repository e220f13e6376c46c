import { type Kysely, sql } from 'kysely'

/**
 * An e-mail address may be that of a user in several companies: the password tells whose it is, that which was set last where two are the
 * same.
 */
export async function up (db: Kysely<unknown>): Promise<void> {
  await sql.raw(byCompany).execute(db)
}

const byCompany = `
alter table users drop constraint users_email_key, add constraint users_email_key unique (company_id, email);
create index users_email on users (email);
alter table users add column password_set_at timestamptz;
update users set password_set_at = created_at;
alter table users alter column password_set_at set not null;
grant insert (password_set_at), update (password_set_at) on users to dispatch_company;`
