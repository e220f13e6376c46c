import { type Kysely, sql } from 'kysely'

/** Several providers for a service: of a choice, and of a step that one of them does. */
export async function up (db: Kysely<unknown>): Promise<void> {
  await sql.raw(columns).execute(db)
}

// Both null for a single provider. `provider_code` is the first of a choice, and of a step the one that is called now or was called last.
// A step that is in doubt loses its list: no other provider may be tried after that.
const columns = `
alter table choices add column providers jsonb;
alter table steps add column providers jsonb;`
