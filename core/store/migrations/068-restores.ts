import { type Kysely, sql } from 'kysely'

/**
 * How far the database has come, so that processes notice where it was put back to what it was before: they remember it outside. And which
 * steps may have been done since by the database that is lost.
 */
export async function up (db: Kysely<unknown>): Promise<void> {
  for (const part of [lineages, steps]) await sql.raw(part).execute(db)
}

// One row for each life of the database: it begins anew with a restore. `epoch` only grows, while processes run; `at`: when it last did.
// `restored_to`: the moment that the restore led back to. The first life of a database that was used before follows from its first company,
// so that a backup of an older release, which knows of no lives, is in the same one; it last came further with its last event.
const lineages = `
create table lineages (
  lineage uuid primary key default gen_random_uuid(),
  number integer not null generated always as identity,
  epoch bigint not null default 0,
  at timestamptz not null default now(),
  began_at timestamptz not null default now(),
  restored_to timestamptz
);
insert into lineages (lineage, at, began_at)
select coalesce(md5('lineage ' || first.company_id || ' ' || extract(epoch from first.created_at))::uuid, gen_random_uuid()),
  coalesce(last.at, now()), coalesce(last.at, now())
from (values (true)) as one (row)
  left join (select company_id, created_at from companies order by company_id limit 1) as first on true
  left join (select at from events order by event_id desc limit 1) as last on true;`

// `restored_to`: what became of the step since this moment is lost with the database. Null: nothing is.
const steps = 'alter table steps add column restored_to timestamptz;'
