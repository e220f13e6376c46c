import type { Database } from '@dispatch/core'
import { sql } from 'kysely'

/** Rows of a company, for the tests of the walls between companies. */
export async function fillFeed (queries: Database['owner'], companyId: number): Promise<void> {
  await sql`insert into event_feeds (company_id, since) values (${companyId}, now()) on conflict do nothing`.execute(queries)
  await sql`insert into feed_events (company_id, body, created_at) values (${companyId}, '{}', now())`.execute(queries)
}
