import { companyTable } from '@dispatch/plugins/feature'
import { type Kysely, sql } from 'kysely'

/** To whom companies send nothing, and the templates that are sent all the same. */
export async function up (db: Kysely<unknown>): Promise<void> {
  for (const part of [suppressions, transactional]) await sql.raw(part).execute(db)
  await companyTable(db, 'suppressions')
  await companyTable(db, 'transactional_templates')
}

// `user_id`: who wrote it; null where a recipient or a vendor did. `dispatch_id`: of which it came. The ids begin with their time.
const suppressions = `
create table suppressions (
  suppression_id uuid not null,
  company_id integer not null references companies,
  channel text not null,
  address text not null,
  reason text not null,
  note text,
  user_id integer references users,
  dispatch_id uuid,
  since timestamptz not null,
  primary key (company_id, suppression_id),
  unique (company_id, channel, address)
)`

const transactional = `
create table transactional_templates (
  company_id integer not null references companies,
  template_id integer not null,
  reasons text[] not null,
  changed_at timestamptz not null,
  primary key (company_id, template_id)
)`
