import { type Kysely, sql } from 'kysely'

/** Addresses of single sign-on for each company and issuer; answers of issuers that count once; e-mail addresses that nobody verifies. */
export async function up (db: Kysely<unknown>): Promise<void> {
  await sql.raw(addresses).execute(db)
}

// What was set before this, or by a process of the release before, was registered with the address that all companies shared. `digest` is
// that of the state of a sign-in whose answer has come.
const addresses = `
alter table single_sign_on
  add column shared_until timestamptz,
  add column trusts_email boolean not null default false;
alter table single_sign_on alter column shared_until set default now() + interval '90 days';
update single_sign_on set shared_until = now() + interval '90 days';
create table sign_on_answers (
  digest bytea primary key,
  expires_at timestamptz not null
);
create index sign_on_answers_expiry on sign_on_answers (expires_at);`
