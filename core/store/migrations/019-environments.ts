import { type Kysely, sql } from 'kysely'

/** Which environment of the vendor an event comes from, where what it was verified by tells. */
export async function up (db: Kysely<unknown>): Promise<void> {
  await sql.raw('alter table inbound add column sandbox boolean').execute(db)
}
