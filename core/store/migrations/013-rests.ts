import { type Kysely, sql } from 'kysely'

/** What an accepted step left is done by a step of its own. */
export async function up (db: Kysely<unknown>): Promise<void> {
  await sql.raw(rests).execute(db)
}

// An e-mail may be taken for some of its recipients and put off for others. `rest_of` is the step that was accepted: whom the
// answer before it left stands in that answer alone.
const rests = `
alter table steps add column rest_of uuid references steps;
create index steps_rests on steps (rest_of) where rest_of is not null;`
