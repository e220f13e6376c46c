import { type Kysely, sql } from 'kysely'

/** Until when an endpoint gets nothing by itself; null: it is not paused. What waits for it is due then. */
export async function up (db: Kysely<unknown>): Promise<void> {
  await sql.raw('alter table callback_endpoints add column paused_until timestamptz;').execute(db)
}
