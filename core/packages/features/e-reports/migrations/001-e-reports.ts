import { companyTable } from '@dispatch/plugins/feature'
import { type Kysely, sql } from 'kysely'

/** What companies report to the tax authority, and as whom. */
export async function up (db: Kysely<unknown>): Promise<void> {
  for (const part of [settings, reports]) await sql.raw(part).execute(db)
  await companyTable(db, 'e_report_settings')
  await companyTable(db, 'e_reports')
}

const settings = `
create table e_report_settings (
  company_id integer not null references companies,
  settings jsonb not null,
  primary key (company_id)
)`

// `dispatch_id`: the one with which it is sent, from the beginning on, so that it is sent once however often that is asked for. `asked_at`:
// it may have been sent from then on. `sent_at`: that dispatch was recorded, and may be forgotten since. Days are texts: YYYY-MM-DD.
const reports = `
create table e_reports (
  report_id uuid not null,
  company_id integer not null references companies,
  user_id integer not null references users,
  kind text not null check (kind in ('transactions', 'payments')),
  type text not null check (type in ('IN', 'RE')),
  period_start text not null,
  period_end text not null,
  due text not null,
  report jsonb not null,
  left_out jsonb not null,
  left_counts jsonb not null,
  assumed jsonb not null,
  count integer not null,
  needed integer not null,
  provider_name text not null,
  dispatch_id uuid not null,
  created_at timestamptz not null,
  asked_at timestamptz,
  sent_at timestamptz,
  primary key (company_id, report_id)
);
create index e_reports_period on e_reports (company_id, kind, period_start)`
