import { type Kysely, sql } from 'kysely'

/** The idempotency key with which an assistant proposes something: repeated, it is the same proposal. */
export async function up (db: Kysely<unknown>): Promise<void> {
  await sql`alter table proposals add column idempotency_key text`.execute(db)
  await sql`create unique index proposals_key on proposals (company_id, user_id, idempotency_key) where idempotency_key is not null`
    .execute(db)
}
