import type { JsonObject } from '@dispatch/common'
import type { Database } from '@dispatch/database'
import { type RawBuilder, sql } from 'kysely'
import { callbackBody } from './event-bodies.ts'
import { insertFeedEvent } from './event-feeds.ts'
import { callbackRow, insertFor, type NewEvent } from './outbox.ts'

/** Companies whose free credits fell below their threshold, and that were not warned yet. */
export async function listDueCreditWarnings ({ owner }: Database, limit: number): Promise<number[]> {
  const rows = await owner.selectFrom('credits').select('company_id').where('warning', '=', 'due').orderBy('company_id').limit(limit)
    .execute()
  return rows.map((row) => row.company_id)
}

/** The ids of what was recorded for a warning. */
export type RecordedWarning = { callbackId: string | null, endpointCallbackIds: string[] }

/**
 * Records the callbacks that warn a company of low credits, where a warning is due: to its address for warnings, to its endpoints that
 * want it, and in its feed. The same statement records that it was warned, so that no dispatch waits for several messages. `now` and
 * `newId` are for the callbacks.
 */
export async function recordCreditWarning (
  { owner, now: due }: Database,
  companyId: number,
  { now, newId }: { now: Date, newId: () => string }
): Promise<RecordedWarning> {
  const nothing: RecordedWarning = { callbackId: null, endpointCallbackIds: [] }
  const company = await owner.selectFrom('companies').innerJoin('credits', 'credits.company_id', 'companies.company_id')
    .select(['notify_url', 'balance', 'held', 'low_credit', 'warnings'])
    .select(sql<string[]>`array(select endpoint_id from callback_endpoints as endpoint where endpoint.company_id = ${companyId}
      and enabled and removed_at is null and (types is null or ${type} = any (types)))`.as('endpointIds'))
    .where('companies.company_id', '=', companyId).where('warning', '=', 'due').executeTakeFirst()
  if (company === undefined) return nothing
  const sequence = company.warnings + 1
  const data: JsonObject = {
    companyId,
    balance: Number(company.balance),
    held: Number(company.held),
    lowCredit: Number(company.low_credit)
  }
  const event: NewEvent = { companyId, dispatchId: null, type, data, now, due, newId }
  const body = await callbackBody(owner, event)
  const reported = sql`exists (select from told)`
  const { rows: [recorded = nothing] } = await sql<RecordedWarning>`
    with told as (
      update credits set warning = 'told', warnings = ${sequence} where company_id = ${companyId} and warning = 'due'
        and warnings = ${company.warnings} returning 1
    ), to_address as (${
    company.notify_url === null
      ? sql`select null::uuid as "callbackId" where false`
      : insertRow(callbackRow({ ...event, sequence, url: company.notify_url }, body), reported)
  }), to_endpoints as (${insertFor(company.endpointIds, { ...event, sequence: sql<number>`${sequence}::integer` }, body, reported)}),
    to_feed as (${insertFeedEvent({ ...event, sequence }, body, reported)})
    select (select "callbackId" from to_address), array(select "callbackId" from to_endpoints) as "endpointCallbackIds"`.execute(owner)
  return recorded
}

const type = 'company.credits_low'

function insertRow (row: ReturnType<typeof callbackRow>, condition: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`insert into outbox (${sql.join(Object.keys(row).map((column) => sql.ref(column)))})
    select ${sql.join(Object.values(row))} where ${condition} returning callback_id as "callbackId"`
}
