import { type Kysely, sql } from 'kysely'

/** What providers have asked of their vendors for dispatches, which is kept for a few days. */
export async function up (db: Kysely<unknown>): Promise<void> {
  await sql.raw(exchanges).execute(db)
}

const own = 'company_id = (select nullif(current_setting(\'app.company\', true), \'\')::integer)'

// As with the log of requests: no foreign keys, few indexes, and ids that begin with the time.
const exchanges = `
create table exchange_log (
  entry_id uuid not null,
  company_id integer not null,
  dispatch_id uuid not null,
  service text not null,
  provider text not null,
  outcome text not null,
  exchanges jsonb not null,
  primary key (company_id, dispatch_id, entry_id)
);
create index exchange_log_age on exchange_log using brin (entry_id);
grant select on exchange_log to dispatch_company;
alter table exchange_log enable row level security;
create policy company on exchange_log to dispatch_company using (${own}) with check (${own});`
