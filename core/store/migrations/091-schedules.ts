import { type Kysely, sql } from 'kysely'

/** When a dispatch is to be sent, as its request says; null: at once. It is due at `next_try_at`, like any queued one. */
export async function up (db: Kysely<unknown>): Promise<void> {
  await sql.raw('alter table dispatches add column schedule jsonb;').execute(db)
}
