import { type Kysely, sql } from 'kysely'

/**
 * Which version of the language of templates a process reads: as long as one lives that reads less, dispatches are accepted with templates
 * that it can read. Release 1.1 reads the first, and does not know of the column.
 */
export async function up (db: Kysely<unknown>): Promise<void> {
  await sql`alter table provider_processes add column template_language integer not null default 1`.execute(db)
}
