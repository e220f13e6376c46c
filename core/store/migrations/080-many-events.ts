import { type Kysely, sql } from 'kysely'

/** What was read of an event that came with others in one body; the body stays with the first row. Null: it is read of the body. */
export async function up (db: Kysely<unknown>): Promise<void> {
  await sql.raw('alter table inbound add column reading jsonb;').execute(db)
}
