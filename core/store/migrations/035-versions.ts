import { type Kysely, sql } from 'kysely'

/**
 * The version of the API by which a dispatch was asked for: callbacks about it are of that version. Null: it was asked for before versions
 * were recorded, or not by HTTP.
 */
export async function up (db: Kysely<unknown>): Promise<void> {
  await sql`alter table dispatches add column api_version text`.execute(db)
}
