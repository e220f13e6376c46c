import { type Kysely, sql } from 'kysely'

/** How far the marking of what a lost database may have done has come: it is done in batches, which go on after a crash. */
export async function up (db: Kysely<unknown>): Promise<void> {
  await sql.raw(marking).execute(db)
}

// `marking`: not all steps up to `mark_to` are marked yet, and nothing is begun before; those up to `marked_from` are. The release before
// marks all of them in the transaction that begins a life.
const marking = `
alter table lineages
  add column marked_from uuid,
  add column mark_to uuid,
  add column marking boolean not null default false;
grant select (lineage, number, epoch, marking) on lineages to dispatch_company;`
