import { type Kysely, sql } from 'kysely'

/** When a company was warned of an endpoint that fails, and when the service disabled it for that. */
export async function up (db: Kysely<unknown>): Promise<void> {
  await sql.raw('alter table callback_endpoints add column warned_at timestamptz, add column disabled_at timestamptz;').execute(db)
}
