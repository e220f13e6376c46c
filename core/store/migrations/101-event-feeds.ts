import { companyTable } from '@dispatch/tables'
import { type Kysely, sql } from 'kysely'

/** What callbacks tell companies, for those that ask for it: kept for each of them from the first time that it asks. */
export async function up (db: Kysely<unknown>): Promise<void> {
  await sql.raw(feeds).execute(db)
  await companyTable(db, 'event_feeds')
  await companyTable(db, 'feed_events')
}

// `entry`: in the order in which they were inserted; others that were inserted before may commit later. `position`: the place in the feed,
// given by whoever reads, to what has committed by then; `last` is the highest of the company.
const feeds = `
create table event_feeds (
  company_id integer primary key references companies,
  since timestamptz not null,
  last bigint not null default 0
);
create table feed_events (
  entry bigint generated always as identity primary key,
  company_id integer not null,
  position bigint,
  body text not null,
  created_at timestamptz not null,
  unique (company_id, position)
);
create index feed_events_fresh on feed_events (company_id, entry) where position is null;
create index feed_events_created on feed_events (created_at);`
