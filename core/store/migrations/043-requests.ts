import { type Kysely, sql } from 'kysely'

/** The log of requests, which is kept for a few days. */
export async function up (db: Kysely<unknown>): Promise<void> {
  await sql.raw(requests).execute(db)
}

// Rows come many at a time and go by their age: no foreign keys, few indexes. The first 48 bits of an id are the time in milliseconds.
const requests = `
create table request_log (
  entry_id uuid not null,
  company_id integer not null,
  user_id integer not null,
  impersonator_id integer,
  key_id uuid,
  request_id text not null,
  method text not null,
  route text not null,
  path text not null,
  status smallint not null,
  error text,
  milliseconds real not null,
  address text not null,
  primary key (company_id, entry_id)
);
create index request_log_request on request_log (company_id, request_id);
create index request_log_age on request_log using brin (entry_id);
grant select on request_log to dispatch_company;
alter table request_log enable row level security;
create policy company on request_log to dispatch_company using (company_id = (select nullif(current_setting('app.company', true), '')::integer))
  with check (company_id = (select nullif(current_setting('app.company', true), '')::integer));`
