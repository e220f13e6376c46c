import { type Kysely, sql } from 'kysely'

/** When what a provider remembers counts no more; null: it always does. */
export async function up (db: Kysely<unknown>): Promise<void> {
  await sql.raw('alter table provider_state add column expires_at timestamptz;').execute(db)
  await sql.raw('create index provider_state_expired on provider_state (expires_at) where expires_at is not null;').execute(db)
}
