import type { JsonObject } from '@dispatch/common'
import { sql } from 'kysely'
import type { Database } from '../db/database.ts'
import { callbackRow } from './callbacks.ts'

/** Companies whose free credits fell below their threshold, and that were not warned yet. */
export async function listDueCreditWarnings ({ owner }: Database, limit: number): Promise<number[]> {
  const rows = await owner.selectFrom('credits').select('company_id').where('warning', '=', 'due').orderBy('company_id').limit(limit)
    .execute()
  return rows.map((row) => row.company_id)
}

/**
 * Records the callback that warns a company of low credits, where a warning is due and the company wants it. The same statement records
 * that it was warned, so that no dispatch waits for several messages. Answers the id of the callback. `now` and `newId` are for the
 * callback.
 */
export async function recordCreditWarning (
  { owner, now: due }: Database,
  companyId: number,
  { now, newId }: { now: Date, newId: () => string }
): Promise<string | undefined> {
  const company = await owner.selectFrom('companies').innerJoin('credits', 'credits.company_id', 'companies.company_id')
    .select(['notify_url', 'balance', 'held', 'low_credit', 'warnings']).where('companies.company_id', '=', companyId).where('warning', '=',
      'due').executeTakeFirst()
  if (company === undefined) return undefined
  const sequence = company.warnings + 1
  const told = sql`update credits set warning = 'told', warnings = ${sequence} where company_id = ${companyId} and warning = 'due'
    and warnings = ${company.warnings}`
  if (company.notify_url === null) {
    await told.execute(owner)
    return undefined
  }
  const data: JsonObject = {
    companyId,
    balance: Number(company.balance),
    held: Number(company.held),
    lowCredit: Number(company.low_credit)
  }
  const row = callbackRow({
    companyId,
    dispatchId: null,
    type: 'company.credits_low',
    sequence,
    url: company.notify_url,
    data,
    now,
    due,
    newId
  })
  const { rows: [callback] } = await sql<{ callbackId: string }>`
    with told as (${told} returning 1)
    insert into callbacks (${sql.join(Object.keys(row).map((column) => sql.ref(column)))}) select ${sql.join(Object.values(row))} from told
      returning callback_id as "callbackId"`.execute(owner)
  return callback?.callbackId
}
