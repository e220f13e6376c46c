import { type Kysely, sql } from 'kysely'

/** Since when the version of a template is in use that is now: later than that it was saved. */
export async function up (db: Kysely<unknown>): Promise<void> {
  await sql`alter table templates add column in_use_since timestamptz`.execute(db)
  await sql`update templates set in_use_since = updated_at where version is not null`.execute(db)
  await sql`grant update (in_use_since) on templates to dispatch_company`.execute(db)
}
