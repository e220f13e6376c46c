import { type Kysely, sql } from 'kysely'

/** A change of credits that is asked for again under the same idempotency key is the one that was made. */
export async function up (db: Kysely<unknown>): Promise<void> {
  await sql.raw(keyed).execute(db)
}

const keyed = `
alter table ledger add column idempotency_key text;
create unique index ledger_key on ledger (company_id, idempotency_key) where idempotency_key is not null;`
