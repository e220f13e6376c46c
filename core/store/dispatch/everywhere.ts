import { auditRow, type AuditStamp } from '@dispatch/accounts'
import type { FoundDispatchView } from '@dispatch/contract'
import type { Database, OwnerQueries } from '@dispatch/database'
import { columnsOf } from '@dispatch/tables'
import { sql } from 'kysely'
import { type DispatchRecord, type DispatchRow, withSteps } from './dispatch-views.ts'

type Desired = { search: string, limit: number, after?: string }

/**
 * A page of `limit` dispatches, and the one after, of all companies with this document number, recipient or id, the newest first. The audit
 * log of each company says which of its dispatches were shown, and that of the author's how many; not the text, which may name a person.
 */
export async function searchEverywhere (
  { owner }: Database,
  desired: Desired,
  { author, at }: AuditStamp & { author: { companyId: number } }
): Promise<FoundDispatchView[]> {
  return owner.transaction().execute(async (queries) => {
    const rows = await rowsOf(queries, desired)
    const found = await withSteps(queries, rows)
    const shown = rows.slice(0, desired.limit).map(({ company_id: companyId, dispatch_id: id }) =>
      auditRow({ companyId, author, action: 'dispatch.found', object: { kind: 'dispatch', id }, at })
    )
    const { companyId } = author
    const object = { kind: 'company', id: String(companyId) }
    const search = auditRow({ companyId, author, action: 'dispatches.searched', object, facts: { found: shown.length }, at })
    await queries.insertInto('audit').values([search, ...shown]).execute()
    const names = new Map(rows.map((row) => [row.dispatch_id, row.company]))
    return found.map((record) => viewOf(record, names.get(record.dispatch_id) ?? ''))
  })
}

const uuid = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/i

/** Each company's index is asked for the newest: no index orders the dispatches of all of them. */
async function rowsOf (queries: OwnerQueries, { search, limit, after }: Desired): Promise<(DispatchRow & { company: string })[]> {
  const beyond = after === undefined ? sql`` : sql`and dispatch_id < ${after}`
  const newest = (condition: ReturnType<typeof sql>) =>
    sql`select dispatch_id from companies, lateral (select dispatch_id from dispatches where dispatches.company_id = companies.company_id
      and ${condition} ${beyond} order by dispatch_id desc limit ${limit + 1}) as newest`
  const { rows } = await sql<DispatchRow & { company: string }>`select ${columnsOf('dispatches')}, companies.name as company
    from dispatches join companies using (company_id) where dispatch_id in (
      (${newest(sql`document_number = ${search}`)}) union (${newest(sql`recipient_key = lower(${search})`)})
      ${uuid.test(search) ? sql`union (select dispatch_id from dispatches where dispatch_id = ${search} ${beyond})` : sql``}
    ) order by dispatch_id desc limit ${limit + 1}`.execute(queries)
  return rows
}

function viewOf (record: DispatchRecord, companyName: string): FoundDispatchView {
  return {
    dispatchId: record.dispatch_id,
    companyId: record.company_id,
    companyName,
    status: record.status,
    ...(record.test ? { test: true as const } : {}),
    documentNumber: record.document_number,
    recipient: record.recipient,
    requestId: record.request_id,
    createdAt: record.created_at.toISOString(),
    finishedAt: record.finished_at?.toISOString() ?? null,
    steps: record.steps.flatMap((step) => [step, ...step.remaining]).map((step) => ({
      stepId: step.step_id,
      service: step.service,
      providerName: step.provider_code,
      status: step.status,
      deliveryStatus: step.delivery_status,
      nextTryAt: step.next_try_at?.toISOString() ?? null,
      error: step.error === null ? null : { error: step.error.word, message: step.error.message }
    }))
  }
}
