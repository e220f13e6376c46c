import type { Database } from '@dispatch/database'
import { sql } from 'kysely'

/** A connection and a request of a company, for the tests of the walls between companies. */
export async function fillConnections (queries: Database['owner'], companyId: number): Promise<void> {
  const whose = sql`from configurations, users where configurations.company_id = ${companyId} and configurations.user_id is null
    and users.company_id = ${companyId} order by users.user_id limit 1`
  await sql`insert into connections (account, company_id, client, tokens, usable_until, connected_by, connected_at)
    select account, ${companyId}, '', '{}', now(), users.user_id, now() ${whose}`.execute(queries)
  await sql`insert into connection_requests (account, company_id, user_id, state, client, sealed, expires_at)
    select account, ${companyId}, users.user_id, ${Buffer.from(String(companyId))}, '', '{}', now() ${whose}`.execute(queries)
}
