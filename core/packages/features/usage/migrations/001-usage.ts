import { companyTable } from '@dispatch/plugins/feature'
import { type Kysely, sql } from 'kysely'

/** What companies have used in each hour. */
export async function up (db: Kysely<unknown>): Promise<void> {
  await sql.raw(hours).execute(db)
  await sql.raw(marks).execute(db)
  await companyTable(db, 'usage_hours')
}

// The dispatches that were created in an hour, counted as they are now: the rows of an hour are always made anew together. `provider` and
// `key` are '' where there is none. `measure`: what is counted; `name`: of what kind, such as the word of an error.
const hours = `
create table usage_hours (
  company_id integer not null references companies,
  hour timestamptz not null,
  service text not null,
  provider text not null,
  user_id integer not null,
  key text not null,
  test boolean not null,
  measure text not null,
  name text not null,
  count bigint not null,
  primary key (company_id, hour, measure, name, service, provider, user_id, key, test)
)`

// Up to which event of the timelines hours are counted. What was written before the event may be seen later, by as long as a transaction
// lasts: each look begins behind "settled", which was the newest event when the mark before was set.
const marks = `
create table usage_marks (
  only_row boolean primary key default true check (only_row),
  settled bigint not null default 0,
  newest bigint not null default 0,
  marked_at timestamptz not null default '-infinity',
  counted_at timestamptz
);
insert into usage_marks default values`
