import { type Kysely, sql } from 'kysely'

/**
 * What a process must know to work on this schema, so that one of an older release can work beside a newer one. And which version of the
 * template language a template is written in: processes that do not know it use the newest version that they can read.
 */
export async function up (db: Kysely<unknown>): Promise<void> {
  await sql.raw(releases).execute(db)
}

const releases = `
create table releases (
  only_row boolean primary key default true check (only_row),
  newest text not null,
  needs text not null
);
alter table template_versions add column language integer not null default 1;`
