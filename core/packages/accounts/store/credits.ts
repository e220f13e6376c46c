import type { Database } from '@dispatch/database'
import { columns, type Tables } from '@dispatch/tables'
import type { Selectable } from 'kysely'

export type LedgerRow = Selectable<Tables['ledger']>

/**
 * The company's credits: all it has, what dispatches under way hold of it, and a page of its ledger, the newest entry first; where
 * `dispatches` is `none`, without what belongs to one.
 */
export async function readCredits (
  database: Database,
  companyId: number,
  page: { limit: number, after?: string, dispatches?: 'none' }
): Promise<{ balance: number, held: number, ledger: LedgerRow[] }> {
  return database.snapshot(companyId, async (queries) => {
    const credits = await queries.selectFrom('credits').select(['balance', 'held']).where('company_id', '=', companyId)
      .executeTakeFirstOrThrow()
    const ledger = await queries.selectFrom('ledger').select(columns.ledger).where('company_id', '=', companyId)
      .$if(page.dispatches === 'none', (query) => query.where('dispatch_id', 'is', null))
      .$if(page.after !== undefined, (query) => query.where('entry_id', '<', page.after ?? ''))
      .orderBy('entry_id', 'desc').limit(page.limit).execute()
    return { balance: Number(credits.balance), held: Number(credits.held), ledger }
  })
}
