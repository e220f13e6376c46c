import { type Kysely, sql } from 'kysely'

/** When a company has said last who it is: documents that were approved before that look otherwise since. */
export async function up (db: Kysely<unknown>): Promise<void> {
  await sql`alter table own_details add column updated_at timestamptz not null default now()`.execute(db)
  await sql`alter table own_details alter column updated_at drop default`.execute(db)
}
