import { type Kysely, sql } from 'kysely'

/** Which version of the company's brand a dispatch was accepted with: it stays with it, as that of its template does. */
export async function up (db: Kysely<unknown>): Promise<void> {
  await sql`alter table dispatches add column brand_version integer`.execute(db)
  await sql`alter table steps add column brand_version integer`.execute(db)
}
