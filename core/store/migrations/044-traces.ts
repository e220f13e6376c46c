import { type Kysely, sql } from 'kysely'

/**
 * The W3C `traceparent` of the request that asked for a dispatch, so that what workers do for it later belongs to the same trace. Null: it
 * was not traced. It stands with the first step: the last release reads the rows of dispatches whole, which a new column would break.
 */
export async function up (db: Kysely<unknown>): Promise<void> {
  await sql`alter table steps add column traceparent text`.execute(db)
}
