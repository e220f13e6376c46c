import { type Kysely, sql } from 'kysely'

/** How many entries a log has not kept of a company that had used up its budget: a count in place of each kind, by the hour. */
export async function up (db: Kysely<unknown>): Promise<void> {
  await sql.raw(counts).execute(db)
}

const own = 'company_id = (select nullif(current_setting(\'app.company\', true), \'\')::integer)'

// As with the logs themselves: no foreign keys.
const counts = `
create table log_counts (
  company_id integer not null,
  log text not null,
  hour timestamptz not null,
  subject text not null,
  result text not null,
  count bigint not null,
  primary key (company_id, hour, log, subject, result)
);
grant select on log_counts to dispatch_company;
alter table log_counts enable row level security;
create policy company on log_counts to dispatch_company using (${own}) with check (${own});`
