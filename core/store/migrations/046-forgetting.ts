import { type Kysely, sql } from 'kysely'

/**
 * Dispatches can be forgotten: what outlives them does not refer to their rows, and how many there were is counted by the hour. The ledger
 * keeps the ids. Of the other references to them that go, the table that refers has no index, so that each deletion would read all of it.
 * The references of their rows to the company go because those to the dispatch imply them: to prove them took an eighth of the database's
 * time for a dispatch, and made all dispatches of a company share locks on its row.
 */
export async function up (db: Kysely<unknown>): Promise<void> {
  for (const part of [references, timelines, counts]) await sql.raw(part).execute(db)
}

// The tables are locked in the order of those who work, dispatches first: what they hold then waits for nobody here. The first two lines
// change nothing else.
const references = `
alter table dispatches alter column dispatch_id drop default;
alter table steps alter column step_id drop default;
alter table steps drop constraint steps_company_id_fkey, drop constraint steps_document_id_fkey;
alter table attempts drop constraint attempts_company_id_fkey;
alter table events drop constraint events_company_id_fkey, drop constraint events_step_id_fkey;
alter table idempotency_keys drop constraint idempotency_keys_dispatch_id_fkey;
alter table endpoint_callbacks drop constraint endpoint_callbacks_dispatch_id_fkey;
alter table ledger drop constraint ledger_dispatch_id_fkey, drop constraint ledger_step_id_fkey;`

// Timelines go with their dispatches, in a transaction of the owner that says so.
const timelines = `
create or replace function refuse_change() returns trigger language plpgsql as $$
begin
  if tg_table_name = 'events' and tg_op = 'DELETE' and current_setting('app.forgets', true) = 'on' then
    return null;
  end if;
  raise exception '% is append-only', tg_table_name;
end $$;`

const own = 'company_id = (select nullif(current_setting(\'app.company\', true), \'\')::integer)'

// `hour`: the one, by UTC, in which they were created. A dispatch of several services counts for each of them.
const counts = `
create table dispatch_counts (
  company_id integer not null references companies,
  hour timestamptz not null,
  service text not null,
  status text not null,
  test boolean not null,
  count integer not null,
  primary key (company_id, hour, service, status, test)
);
grant select on dispatch_counts to dispatch_company;
alter table dispatch_counts enable row level security;
create policy company on dispatch_counts to dispatch_company using (${own}) with check (${own});`
