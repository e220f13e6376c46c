import { sql } from 'kysely'
import type { JsonObject } from '../contract/json.ts'
import { noteCompanyCallback, type EnqueueCallback } from './callbacks.ts'
import { asOwner, type Database } from './database.ts'

/** Companies whose free credits have fallen below their threshold, and who were not told yet. */
export async function listWarnings ({ owner }: Database, limit: number): Promise<number[]> {
  const rows = await owner.selectFrom('credits').select('company_id').where('warning', '=', 'due').orderBy('company_id').limit(limit).execute()
  return rows.map((row) => row.company_id)
}

/**
 * Tells a company that its credits are low, where it is still to be told and wants to be: in the transaction that notes that it
 * was. `now` and `newId` are those of the callback.
 */
export async function tellWarning (database: Database, companyId: number, { now, newId }: { now: Date, newId: () => string }, enqueue: EnqueueCallback): Promise<void> {
  await database.company(companyId, async (queries) => {
    const credits = await queries.updateTable('credits').set((row) => ({ warning: 'told', warnings: sql`${row.ref('warnings')} + 1` }))
      .where('company_id', '=', companyId).where('warning', '=', 'due').returning(['balance', 'held', 'low_credit', 'warnings']).executeTakeFirst()
    const company = await queries.selectFrom('companies').select('notify_url').where('company_id', '=', companyId).executeTakeFirst()
    if (credits === undefined || company?.notify_url == null) return
    const data: JsonObject = { companyId, balance: Number(credits.balance), held: Number(credits.held), lowCredit: Number(credits.low_credit) }
    await noteCompanyCallback(await asOwner(queries), { companyId, type: 'company.credits_low', sequence: credits.warnings, url: company.notify_url, data, now, due: database.now, newId }, enqueue)
  })
}
