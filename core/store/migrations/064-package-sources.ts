import { type Kysely, sql } from 'kysely'

/** Which catalog a package was fetched from: that one may revoke it. Of those that are here nobody knows. */
export async function up (db: Kysely<unknown>): Promise<void> {
  await sql.raw(rules).execute(db)
}

// Empty: an operator has added it by hand.
const rules = 'alter table adapter_packages add column source text;'
