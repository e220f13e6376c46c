import { type Kysely, sql } from 'kysely'

/** What vendors have told of accepted steps besides their status, such as that an e-mail was opened. */
export async function up (db: Kysely<unknown>): Promise<void> {
  await sql`alter table steps add column marks text[]`.execute(db)
}
