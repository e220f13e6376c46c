import { type Kysely, sql } from 'kysely'

/** Since when a company is being deleted: no dispatch of it is recorded any more. */
export async function up (db: Kysely<unknown>): Promise<void> {
  await sql`alter table companies add column leaving_at timestamptz`.execute(db)
}
