import { type Kysely, sql } from 'kysely'

/** Companies rule themselves: their users, settings and warnings; and everything that is changed leaves a trace. */
export async function up (db: Kysely<unknown>): Promise<void> {
  for (const part of [audit, companies, users, credits, callbacks]) await sql.raw(part).execute(db)
}

// Who did what to which thing of a company: `user_id` is null for the operator at the command line, who has neither an
// address nor a request. `company_id` is whose the thing is, `user_company_id` whose the user is. No reference holds the users:
// they are never removed, and an entry that waited for one who is just being changed could wait for ever.
const audit = `
create table audit (
  audit_id bigint generated always as identity primary key,
  company_id integer not null references companies,
  user_id integer,
  user_company_id integer,
  impersonator_id integer,
  key_id text,
  action text not null,
  object_kind text not null,
  object_id text not null,
  facts jsonb not null,
  address text,
  request_id text,
  at timestamptz not null,
  check (num_nulls(user_id, user_company_id, address, request_id) in (0, 4))
);
create index audit_company on audit (company_id, audit_id desc);
create index audit_object on audit (company_id, object_kind, object_id, audit_id desc);
create trigger audit_append_only before update or delete or truncate on audit for each statement execute function refuse_change();
grant select, insert on audit to dispatch_company;
alter table audit enable row level security;
create policy company on audit to dispatch_company using (company_id = (select nullif(current_setting('app.company', true), '')::integer))
  with check (company_id = (select nullif(current_setting('app.company', true), '')::integer));`

// CIDRs from which the company's users may call (none: from everywhere), and where warnings go.
const companies = `
alter table companies
  add column addresses text[] not null default '{}',
  add column notify_url text;
grant update (addresses, notify_url) on companies to dispatch_company;`

// A company writes its users' passwords and never reads them.
const users = `
grant insert (company_id, email, role, services, password_hash, created_at) on users to dispatch_company;
grant update (email, role, services, password_hash, password_version, disabled_at) on users to dispatch_company;
grant select (password_version) on users to dispatch_company;`

// A company is warned once when its free credits have fallen below the threshold: whoever changes them decides that in the
// same transaction. More credits that lift them to the threshold again, and another threshold, arm the warning anew.
const credits = `
alter table ledger drop constraint ledger_kind_check, add check (kind in ('grant', 'correction', 'debit'));
alter table credits
  add column low_credit bigint check (low_credit > 0),
  add column warning text not null default 'armed' check (warning in ('armed', 'due', 'told')),
  add column warnings integer not null default 0;
create index credits_warning on credits (company_id) where warning = 'due';
create function watch_credits() returns trigger language plpgsql as $$
begin
  if new.low_credit is distinct from old.low_credit or (new.balance > old.balance and new.balance - new.held >= new.low_credit) then
    new.warning := 'armed';
  end if;
  if new.warning = 'armed' and new.balance - new.held < new.low_credit then
    new.warning := 'due';
  end if;
  return new;
end $$;
create trigger credits_watched before update on credits for each row when (new.low_credit is not null) execute function watch_credits();`

// What a company is told about itself belongs to no dispatch.
const callbacks = `
alter table callbacks alter column dispatch_id drop not null;`
