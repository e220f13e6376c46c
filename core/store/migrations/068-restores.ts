import { type Kysely, sql } from 'kysely'

/**
 * How far the database has come, so that processes notice where it was put back to what it was before: they remember it outside. And which
 * steps may have been done since by the database that is lost.
 */
export async function up (db: Kysely<unknown>): Promise<void> {
  for (const part of [lineages, steps]) await sql.raw(part).execute(db)
}

// One row for each life of the database: it begins anew with a restore. `epoch` only grows, while processes run; `at`: when it last did.
// `restored_to`: the moment that the restore led back to.
const lineages = `
create table lineages (
  lineage uuid primary key default gen_random_uuid(),
  number integer not null generated always as identity,
  epoch bigint not null default 0,
  at timestamptz not null default now(),
  began_at timestamptz not null default now(),
  restored_to timestamptz
);
insert into lineages default values;`

// `restored_to`: what became of the step since this moment is lost with the database. Null: nothing is.
const steps = 'alter table steps add column restored_to timestamptz;'
