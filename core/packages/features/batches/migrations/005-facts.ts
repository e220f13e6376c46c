import { type Kysely, sql } from 'kysely'

/** What rules of approval look at of each row, and what whoever decides reads: found when it was checked, and forgotten with its body. */
export async function up (db: Kysely<unknown>): Promise<void> {
  await sql`alter table batch_rows add column facts jsonb`.execute(db)
  await sql`alter table batches drop column needs_approval`.execute(db)
}
