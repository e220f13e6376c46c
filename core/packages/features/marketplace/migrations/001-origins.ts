import { type Kysely, sql } from 'kysely'

/** What a registry of npm, and a catalog, said of a package when it came from there. Null: it came from elsewhere, or is older. */
export async function up (db: Kysely<unknown>): Promise<void> {
  await sql.raw('alter table adapter_packages add column registry jsonb, add column attested jsonb;').execute(db)
}
