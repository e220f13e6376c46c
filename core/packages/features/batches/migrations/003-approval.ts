import { type Kysely, sql } from 'kysely'

/** Batches of which a row was found, while they were checked, that somebody else has to approve. */
export async function up (db: Kysely<unknown>): Promise<void> {
  await sql`alter table batches add column needs_approval boolean not null default false`.execute(db)
}
