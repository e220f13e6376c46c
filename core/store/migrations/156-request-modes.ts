import { type Kysely, sql } from 'kysely'

/** Requests of tests, among those of the log. */
export async function up (db: Kysely<unknown>): Promise<void> {
  await sql`alter table request_log add column test boolean not null default false`.execute(db)
}
