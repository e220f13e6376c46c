import { companyTable } from '@dispatch/plugins/feature'
import { type Kysely, sql } from 'kysely'

/** What assistants propose, and what people decided. */
export async function up (db: Kysely<unknown>): Promise<void> {
  await sql.raw(table).execute(db)
  await companyTable(db, 'proposals')
}

const table = `
create table proposals (
  proposal_id uuid not null,
  company_id integer not null references companies,
  user_id integer not null references users,
  service text not null,
  request jsonb not null,
  reason text,
  decision text check (decision in ('sent', 'declined')),
  decided_by integer references users,
  dispatch_id uuid,
  created_at timestamptz not null,
  expires_at timestamptz not null,
  primary key (company_id, proposal_id)
);
create index proposals_user on proposals (company_id, user_id, created_at desc);
create index proposals_age on proposals (created_at)`
