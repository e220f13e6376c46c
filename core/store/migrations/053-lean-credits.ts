import { type Kysely, sql } from 'kysely'

/**
 * The same for credits, by itself: a dispatch looks at its credits before it is recorded, so whoever holds this table must not wait for
 * that of dispatches. The rows that are there need not be read again.
 */
export async function up (db: Kysely<unknown>): Promise<void> {
  await sql.raw(rules).execute(db)
}

const rules = `
alter table credits drop constraint credits_warning_check, drop constraint credits_held_check, drop constraint credits_low_credit_check,
  add constraint credits_amounts check (held >= 0 and low_credit > 0) not valid;`
