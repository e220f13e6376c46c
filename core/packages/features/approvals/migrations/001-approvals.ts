import { companyTable } from '@dispatch/plugins/feature'
import { type Kysely, sql } from 'kysely'

/** What companies want two people for, and what waits for the second one. */
export async function up (db: Kysely<unknown>): Promise<void> {
  for (const part of [rules, approvals]) await sql.raw(part).execute(db)
  await companyTable(db, 'approval_rules')
  await companyTable(db, 'approvals')
}

// Every process looks at the rules of a company before it sends, and keeps them until they change.
const rules = `
create table approval_rules (
  rule_id uuid not null,
  company_id integer not null references companies,
  rule jsonb not null,
  created_at timestamptz not null,
  primary key (company_id, rule_id)
);
create trigger approval_rules_changed after insert or update or delete on approval_rules for each row execute function note_change();`

// `asker`: who has asked, with what they could do then. `command`: how it was asked for. `status` 'sending': it is approved, and a process
// sends it; another one does where that ends, and `tries` counts how often. `tell_after`: telling has failed, and is tried again then.
const approvals = `
create table approvals (
  approval_id uuid not null,
  company_id integer not null references companies,
  user_id integer not null references users,
  batch_id uuid,
  asker jsonb not null,
  services text[] not null,
  command jsonb not null,
  request jsonb,
  idempotency_key text,
  fingerprint text,
  facts jsonb not null,
  rules jsonb not null,
  status text not null check (status in ('waiting', 'sending', 'approved', 'refused', 'withdrawn', 'expired')),
  decided_by integer references users,
  author jsonb,
  seen text,
  reason text,
  dispatch_id uuid,
  told_at timestamptz,
  mailed_at timestamptz,
  tell_tries smallint not null default 0,
  tell_after timestamptz,
  tries smallint not null default 0,
  worked_at timestamptz not null,
  created_at timestamptz not null,
  expires_at timestamptz not null,
  decided_at timestamptz,
  primary key (company_id, approval_id)
);
create unique index approvals_keys on approvals (company_id, idempotency_key) where idempotency_key is not null;
create unique index approvals_batches on approvals (company_id, batch_id) where batch_id is not null and status in ('waiting', 'sending');
create index approvals_company on approvals (company_id, created_at desc);
create index approvals_dispatches on approvals (company_id, dispatch_id) where dispatch_id is not null;
create index approvals_open on approvals (worked_at) where status in ('waiting', 'sending');
create index approvals_untold on approvals (created_at) where told_at is null or mailed_at is null;
create index approvals_age on approvals (created_at);`
