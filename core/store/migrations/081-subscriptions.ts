import { type Kysely, sql } from 'kysely'

/** What this service has registered at the vendor of a configuration: by service, the vendor's id, the address and the time. */
export async function up (db: Kysely<unknown>): Promise<void> {
  await sql.raw('alter table configurations add column subscriptions jsonb;').execute(db)
}
