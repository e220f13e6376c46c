import { type Kysely, sql } from 'kysely'

/** Batches that pause once they are checked. */
export async function up (db: Kysely<unknown>): Promise<void> {
  await sql`alter table batches add column held boolean not null default false`.execute(db)
}
