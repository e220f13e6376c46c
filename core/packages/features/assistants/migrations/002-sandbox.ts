import { type Kysely, sql } from 'kysely'

/** Proposals of tests. */
export async function up (db: Kysely<unknown>): Promise<void> {
  await sql`alter table proposals add column sandbox boolean not null default false`.execute(db)
}
