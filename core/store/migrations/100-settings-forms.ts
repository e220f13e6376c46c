import { type Kysely, sql } from 'kysely'

/**
 * In which version of its provider the settings of a configuration were written, and all other forms of them; there was only the one
 * before. A process of an older release goes on with those two, and leaves the others as they are.
 */
export async function up (db: Kysely<unknown>): Promise<void> {
  await sql.raw(columns).execute(db)
}

// Secrets stand apart: whatever the name of a setting, what is sealed is known by its place.
const columns = `
alter table configurations add column version text, add column version_before text, add column forms jsonb, add column form_secrets jsonb;`
