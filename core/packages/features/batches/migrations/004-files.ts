import { companyTable } from '@dispatch/plugins/feature'
import { type Kysely, sql } from 'kysely'

/** The files that the rows of batches name. */
export async function up (db: Kysely<unknown>): Promise<void> {
  await sql.raw(files).execute(db)
  await companyTable(db, 'batch_files')
}

const files = `
create table batch_files (
  company_id integer not null references companies,
  batch_id uuid not null,
  file_id uuid not null,
  primary key (company_id, batch_id, file_id),
  foreign key (company_id, batch_id) references batches (company_id, batch_id) on delete cascade
);
create index batch_files_file on batch_files (company_id, file_id);`
