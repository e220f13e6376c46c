import type { Database } from '@dispatch/core'
import { sql } from 'kysely'

/** Rows of a company, for the tests of the walls between companies. */
export async function fillUsage (queries: Database['owner'], companyId: number): Promise<void> {
  await sql`insert into usage_hours (company_id, hour, service, provider, user_id, key, test, measure, name, count)
    values (${companyId}, now(), 'sms', 'twilio', 1, '', false, 'steps', '', 1)`.execute(queries)
  await sql`with added as (
      insert into budgets (company_id, budget_id, scope, subject, unit, amount, hard, created_at)
      values (${companyId}, gen_random_uuid(), 'company', '', 'credits', 1000000, false, now()) returning budget_id
    ) insert into budget_use (company_id, budget_id, month, used) select ${companyId}, budget_id, now()::date, 1 from added`.execute(
    queries
  )
}
