import { type Kysely, sql } from 'kysely'

/** When the person of a session has proved last who they are. */
export async function up (db: Kysely<unknown>): Promise<void> {
  await sql.raw(proof).execute(db)
}

// Null: at the sign-in, as in sessions that the release before begins.
const proof = `
alter table sessions add column proved_at timestamptz;
grant select (proved_at), update (proved_at) on sessions to dispatch_company;`
