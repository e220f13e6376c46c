import { type AuditStamp, noteAudit } from '@dispatch/accounts'
import type { Database } from '@dispatch/database'
import type { PricesBody, PricesView } from '../contract/prices.ts'
import { tablesIn } from './tables.ts'

/** What a company pays. */
export async function readPrices (database: Database, companyId: number): Promise<PricesView> {
  const row = await database.reading(companyId,
    (queries) =>
      tablesIn(queries).selectFrom('usage_prices').select(['currency', 'prices']).where('company_id', '=', companyId).executeTakeFirst())
  return row ?? { currency: null, prices: [] }
}

export async function writePrices (
  database: Database,
  companyId: number,
  { currency, prices }: PricesBody,
  stamp: AuditStamp
): Promise<void> {
  const stored = { currency, prices: JSON.stringify(prices) }
  await database.company(companyId, async (queries) => {
    await tablesIn(queries).insertInto('usage_prices').values({ company_id: companyId, ...stored })
      .onConflict((conflict) => conflict.column('company_id').doUpdateSet(stored)).execute()
    await noteAudit(queries, {
      ...stamp,
      companyId,
      action: 'usage_prices.changed',
      object: { kind: 'company', id: String(companyId) },
      facts: { currency, prices: prices.length }
    })
  })
}
