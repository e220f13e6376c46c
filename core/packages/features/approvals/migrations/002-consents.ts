import { type Kysely, sql } from 'kysely'

/** Finds what some have approved, while it waits for others. */
export async function up (db: Kysely<unknown>): Promise<void> {
  await sql`create index approvals_consented on approvals (worked_at)
    where status = 'waiting' and batch_id is null and rules @? '$[*].consent'`.execute(db)
}
