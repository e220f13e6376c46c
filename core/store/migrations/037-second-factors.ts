import { type Kysely, sql } from 'kysely'

/** The second factor of people: an app that makes codes, recovery codes, and sign-ins that wait for one of them. */
export async function up (db: Kysely<unknown>): Promise<void> {
  await sql.raw(secondFactors).execute(db)
}

const own = 'company_id = (select nullif(current_setting(\'app.company\', true), \'\')::integer)'

// The secret of an app is sealed for its user; `last_step` is the time step of the last code that was accepted. Of recovery codes and
// waiting sign-ins only digests are kept. A change of the second factor counts as a change of the password: `password_version` grows.
const secondFactors = `
alter table users add column second_factor_at timestamptz;
alter table companies add column second_factor_required boolean not null default false;
create table authenticators (
  user_id integer primary key references users,
  company_id integer not null references companies,
  sealed jsonb not null,
  confirmed_at timestamptz,
  last_step bigint not null default 0
);
create table recovery_codes (
  user_id integer not null references users,
  company_id integer not null references companies,
  digest bytea not null,
  primary key (user_id, digest)
);
create table waiting_sign_ins (
  digest bytea primary key,
  user_id integer not null references users,
  password_version integer not null,
  expires_at timestamptz not null
);
create index authenticators_company on authenticators (company_id);
create index recovery_codes_company on recovery_codes (company_id);
create index waiting_sign_ins_expiry on waiting_sign_ins (expires_at);
grant select (second_factor_at), update (second_factor_at) on users to dispatch_company;
grant update (password_version) on sessions to dispatch_company;
grant select, insert, update, delete on authenticators to dispatch_company;
grant select, insert, delete on recovery_codes to dispatch_company;
alter table authenticators enable row level security;
create policy company on authenticators to dispatch_company using (${own}) with check (${own});
alter table recovery_codes enable row level security;
create policy company on recovery_codes to dispatch_company using (${own}) with check (${own});`
