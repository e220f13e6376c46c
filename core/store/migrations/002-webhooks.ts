import { type Kysely, sql } from 'kysely'

/** Events of vendors: where they are kept, whom an address belongs to, what they made of a step. */
export async function up (db: Kysely<unknown>): Promise<void> {
  for (const part of [accounts, deliveries, inbound]) await sql.raw(part).execute(db)
}

// The opaque name of a configuration in the address that its owner gives to a vendor.
const accounts = `
alter table configurations add column account uuid not null default gen_random_uuid() unique;`

// Where a step stands after its acceptance; a step that is settled is not asked after any more.
const deliveries = `
alter table steps
  add column delivery_status text,
  add column delivery_settled boolean not null default false,
  add column polled_at timestamptz;
create index steps_remote on steps (provider_code, remote_id) where remote_id is not null;
create index steps_followed on steps (provider_code, service, step_id) where status = 'accepted' and service in ('esign', 'postal') and not delivery_settled;`

// Companies have no right to this table: what concerns one of them stands in its timeline. What is parked has its headers
// sealed and no digest yet: only what was verified keeps another event with the same body out.
const inbound = `
create table inbound (
  inbound_id uuid primary key,
  service text not null,
  provider_code text not null,
  account uuid,
  company_id integer references companies,
  user_id integer references users,
  parked jsonb,
  digest text,
  body bytea not null,
  received_at timestamptz not null,
  state text not null check (state in ('waiting', 'held', 'applied', 'kept', 'duplicate', 'dropped')),
  event_id text,
  note text,
  handled_at timestamptz,
  check ((parked is null) = (digest is not null))
);
create unique index inbound_digest on inbound (service, provider_code, account, digest) nulls not distinct where digest is not null;
create unique index inbound_event on inbound (service, provider_code, account, event_id) nulls not distinct where event_id is not null;
create index inbound_parked on inbound (received_at) where parked is not null;
create index inbound_open on inbound (received_at) where state in ('waiting', 'held');
create index inbound_handled on inbound (handled_at) where handled_at is not null;
alter table inbound enable row level security;
create policy company on inbound to dispatch_company using (company_id = (select nullif(current_setting('app.company', true), '')::integer))
  with check (company_id = (select nullif(current_setting('app.company', true), '')::integer));`
