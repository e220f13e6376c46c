import { type Kysely, sql } from 'kysely'

/** Which run asks the vendor of an accepted step to take it back. */
export async function up (db: Kysely<unknown>): Promise<void> {
  await sql.raw(asked).execute(db)
}

// It stands there from before the vendor is asked until its answer is noted: where it is not the run that has the lease of the dispatch any
// more, the answer is lost.
const asked = `
alter table steps add column cancel_run uuid;
create index steps_cancelled on steps (cancel_run) where cancel_run is not null;`
