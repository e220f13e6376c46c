import { type Kysely, sql } from 'kysely'

/** What configurations were before an adapter migrated them, and how often the processes of a version have crashed. */
export async function up (db: Kysely<unknown>): Promise<void> {
  await sql.raw(columns).execute(db)
}

// Settings that a newer version has migrated are kept as they were: the version before goes on with them, also after a rollback.
const columns = `
alter table configurations add column settings_before jsonb, add column secrets_before jsonb,
  add constraint configurations_before check ((settings_before is null) = (secrets_before is null));
alter table adapter_packages add column crashes integer not null default 0, add column crashed_at timestamptz, add column crash text;`
