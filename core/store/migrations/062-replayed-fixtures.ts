import { type Kysely, sql } from 'kysely'

/** How many fixtures of a package were replayed when it was taken in. Of those that are here nobody knows. */
export async function up (db: Kysely<unknown>): Promise<void> {
  await sql.raw(rules).execute(db)
}

const rules = 'alter table adapter_packages add column replayed integer;'
