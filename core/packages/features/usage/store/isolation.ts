import type { Database } from '@dispatch/database'
import { sql } from 'kysely'
import { tablesIn } from './tables.ts'

/** Rows of a company, for the tests of the walls between companies. */
export async function fillUsage (queries: Database['owner'], companyId: number): Promise<void> {
  const counted = { service: 'any', provider: 'any', user_id: 1, key: '', test: false, measure: 'steps', name: '', count: 1 }
  await tablesIn(queries).insertInto('usage_hours').values({ company_id: companyId, hour: new Date(), ...counted }).execute()
  await tablesIn(queries).insertInto('usage_prices').values({ company_id: companyId, currency: 'EUR', prices: '[]' }).execute()
  await sql`with added as (
      insert into budgets (company_id, budget_id, scope, subject, unit, amount, hard, created_at)
      values (${companyId}, gen_random_uuid(), 'company', '', 'credits', 1000000, false, now()) returning budget_id
    ) insert into budget_use (company_id, budget_id, month, used) select ${companyId}, budget_id, now()::date, 1 from added`.execute(
    queries
  )
}
