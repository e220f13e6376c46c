import type { Database } from '@dispatch/core'
import { sql } from 'kysely'

/** Rows of a company, for the tests of the walls between companies. */
export async function fillUsage (queries: Database['owner'], companyId: number): Promise<void> {
  await sql`insert into usage_hours (company_id, hour, service, provider, user_id, key, test, measure, name, count)
    values (${companyId}, now(), 'sms', 'twilio', 1, '', false, 'steps', '', 1)`.execute(queries)
}
