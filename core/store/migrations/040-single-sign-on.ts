import { type Kysely, sql } from 'kysely'

/** The OpenID provider of each company, and as whom it knows their users. */
export async function up (db: Kysely<unknown>): Promise<void> {
  await sql.raw(singleSignOn).execute(db)
}

const own = 'company_id = (select nullif(current_setting(\'app.company\', true), \'\')::integer)'

// The code is what a person gives to the sign-in page; it is random, and says nothing of the company. Where single sign-on is required,
// `way_in` is the one user who may still sign in with a password.
const singleSignOn = `
create table single_sign_on (
  company_id integer primary key references companies,
  code text not null unique,
  issuer text not null,
  client_id text not null,
  client_secret jsonb not null,
  creates_users boolean not null,
  default_role text not null check (default_role in ('member', 'admin')),
  default_services text[] not null,
  links_by_email boolean not null,
  required boolean not null,
  way_in integer references users,
  updated_at timestamptz not null,
  check (not required or way_in is not null)
);
create table user_identities (
  company_id integer not null references companies,
  user_id integer not null references users,
  issuer text not null,
  subject text not null,
  linked_at timestamptz not null,
  primary key (company_id, issuer, subject),
  unique (user_id, issuer)
);
grant select, insert, update, delete on single_sign_on to dispatch_company;
grant select, insert, delete on user_identities to dispatch_company;
alter table single_sign_on enable row level security;
create policy company on single_sign_on to dispatch_company using (${own}) with check (${own});
alter table user_identities enable row level security;
create policy company on user_identities to dispatch_company using (${own}) with check (${own});`
