import { companyTable } from '@dispatch/plugins/feature'
import { type Kysely, sql } from 'kysely'

/** E-invoices that others have sent to companies, from where they come, and what was said of them. */
export async function up (db: Kysely<unknown>): Promise<void> {
  for (const part of [receptions, invoices, statuses]) await sql.raw(part).execute(db)
  for (const table of ['receptions', 'received_invoices', 'received_statuses']) await companyTable(db, table)
}

// `cursor`: where the next question to the vendor goes on, in the environment that it was told for.
const receptions = `
create table receptions (
  company_id integer not null references companies,
  provider_code text not null,
  is_on boolean not null,
  since timestamptz not null,
  sandbox boolean not null default false,
  cursor text,
  looked_at timestamptz,
  next_at timestamptz not null,
  failures integer not null default 0,
  problem text,
  primary key (company_id, provider_code)
);
create index receptions_next on receptions (next_at) where is_on`

// The ids begin with their time. `file`, `facts` and `parties` come once the file is there; `parties` names whoever stands in it.
// `speaking_until`: somebody says something of it. `removed_at`: nobody gets it any more, and its bytes are being removed.
const invoices = `
create table received_invoices (
  company_id integer not null references companies,
  received_id uuid not null,
  provider_code text not null,
  sandbox boolean not null,
  remote_id text not null,
  state text not null,
  problem jsonb,
  file jsonb,
  facts jsonb,
  number text,
  parties text,
  status text,
  received_at timestamptz not null,
  taken_at timestamptz not null,
  tries integer not null default 0,
  next_at timestamptz not null,
  speaking_until timestamptz,
  removed_at timestamptz,
  primary key (company_id, received_id),
  unique (company_id, provider_code, sandbox, remote_id)
);
create index received_invoices_next on received_invoices (next_at) where state = 'fetching' and removed_at is null;
create index received_invoices_taken on received_invoices (company_id, taken_at);
create index received_invoices_removed on received_invoices (removed_at) where removed_at is not null`

// The ids are made of what is said: the same is said once. `number`: their order.
const statuses = `
create table received_statuses (
  company_id integer not null references companies,
  received_id uuid not null,
  status_id uuid not null,
  saying jsonb not null,
  state text not null,
  message text,
  number bigint not null generated always as identity,
  user_id integer not null references users,
  asked_at timestamptz not null,
  said_at timestamptz not null,
  looks integer not null default 0,
  next_at timestamptz,
  primary key (company_id, status_id),
  foreign key (company_id, received_id) references received_invoices on delete cascade
);
create index received_statuses_of on received_statuses (company_id, received_id);
create index received_statuses_next on received_statuses (next_at) where next_at is not null`
