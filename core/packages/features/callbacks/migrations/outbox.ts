import type { Migrations } from '@dispatch/tables'
import { type Kysely, sql } from 'kysely'

const own = 'company_id = (select nullif(current_setting(\'app.company\', true), \'\')::integer)'

const isolated = (table: string): string => `
grant select, insert, update on ${table} to dispatch_company;
alter table ${table} enable row level security;
create policy company on ${table} to dispatch_company using (${own}) with check (${own});`

// A callback without an endpoint goes to the address `url`; one with an endpoint goes to wherever that is at the attempt. Their keys,
// checks and indexes are those of the partitions.
const tables = `
create table outbox (
  callback_id uuid not null,
  company_id integer not null,
  endpoint_id uuid,
  dispatch_id uuid,
  type text not null,
  sequence integer not null,
  url text,
  receiver text not null,
  body text,
  state text not null,
  attempts integer not null default 0,
  tries integer not null default 0,
  next_at timestamptz,
  created_at timestamptz not null
) partition by list (endpoint_id);
create table outbox_attempts (
  callback_id uuid not null,
  number integer not null,
  company_id integer not null,
  to_endpoint boolean not null,
  at timestamptz not null,
  outcome text,
  status integer,
  milliseconds integer,
  reason text
) partition by list (to_endpoint);
${isolated('outbox')}${isolated('outbox_attempts')}`

// Processes of the release before read the address of an endpoint as `url` from a join with its callbacks. Therefore they find these by a
// view that has no such column. They read, lock and write rows through it, each company its own.
const endpoints = `
alter table endpoint_callbacks rename to callbacks_to_endpoints;
alter table callbacks_to_endpoints add column url text;
alter index if exists endpoint_callbacks_kept rename to callbacks_to_endpoints_kept;
alter table outbox attach partition callbacks_to_endpoints default;
create view endpoint_callbacks with (security_invoker = true) as
  select callback_id, company_id, endpoint_id, dispatch_id, type, sequence, receiver, body, state, attempts, tries, next_at, created_at
  from callbacks_to_endpoints;
grant select, insert, update on endpoint_callbacks to dispatch_company;`

/** A step, and what is read before it. */
type Step = { does: string, before?: string }

/**
 * The two tables of callbacks become the partitions of one, and so do those of their attempts: no row moves, and processes of the release
 * before go on with the tables that they know. Each step locks one of these tables for a moment. What a partition must prove is read
 * before it, while everybody works.
 */
const steps: Readonly<Record<string, Step>> = {
  '001-outbox': { does: tables },
  '002-addresses': {
    does: 'alter table callbacks add column endpoint_id uuid, add constraint callbacks_to_addresses check (endpoint_id is null) not valid;'
  },
  '004-addresses-attached': {
    before: 'alter table callbacks validate constraint callbacks_to_addresses',
    does: 'alter table outbox attach partition callbacks for values in (null);'
  },
  '005-endpoints': { does: endpoints },
  '006-attempts': {
    does: `
alter table callback_attempts add column to_endpoint boolean not null default false,
  add constraint callback_attempts_to_addresses check (to_endpoint = false) not valid;`
  },
  '008-attempts-attached': {
    before: 'alter table callback_attempts validate constraint callback_attempts_to_addresses',
    does: 'alter table outbox_attempts attach partition callback_attempts for values in (false);'
  },
  '009-endpoint-attempts': {
    does: `
alter table endpoint_attempts add column to_endpoint boolean not null default true,
  add constraint endpoint_attempts_to_endpoints check (to_endpoint = true) not valid;`
  },
  '011-endpoint-attempts-attached': {
    before: 'alter table endpoint_attempts validate constraint endpoint_attempts_to_endpoints',
    does: 'alter table outbox_attempts attach partition endpoint_attempts for values in (true);'
  }
}

export const migrations: Migrations = Object.fromEntries(
  Object.entries(steps).map(
    ([name, { does, before }]) => [`callbacks/${name}`,
      () => Promise.resolve({ up: (db: Kysely<unknown>) => run(db, does), ...(before === undefined ? {} : { before }) })]
  )
)

async function run (db: Kysely<unknown>, step: string): Promise<void> {
  await sql.raw(step).execute(db)
}
