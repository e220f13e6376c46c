import { type Kysely, sql } from 'kysely'

/** What the vendor of a configuration answered when it was checked last: the result, the time, and of which settings. */
export async function up (db: Kysely<unknown>): Promise<void> {
  await sql.raw('alter table configurations add column checked jsonb;').execute(db)
}
