import type { JsonObject } from '@dispatch/common'
import { type Database, firstIdAt } from '@dispatch/database'
import { dayInFrance, type ReportKind, type SentInvoice } from '@dispatch/einvoice'
import { type RawBuilder, sql } from 'kysely'

/** Rows that are read together. */
const together = 200
/** Milliseconds before a period in which an invoice may have been asked for that is dated in it, and one that is paid in it. */
const [datedLater, paidLater] = [62 * 86_400_000, 800 * 86_400_000]

type Row = {
  id: string
  number: string | null
  type: string
  data: JsonObject | null
  delivery: string | null
  created: Date
  said: { at: string, amounts?: { rate: string, amount: string }[] }[] | null
  paid: Date | null
}

/** The payments of a dispatch that the platform has received. */
const said = sql`(
  select jsonb_agg(saying->'saying' order by place) from (
    select (array_agg(kind order by event_id desc))[1] as last, min(event_id) as place,
      (array_agg(facts order by event_id) filter (where kind = 'saying'))[1] as saying
    from events where events.company_id = dispatches.company_id and events.dispatch_id = dispatches.dispatch_id
      and kind in ('saying', 'said', 'not_said', 'say_unknown') and facts->>'statusId' is not null
    group by facts->>'statusId'
  ) as each where last = 'said' and saying->>'code' = '212')`

/** When a vendor has told that all of it is paid. */
const paid = sql`(
  select min(at) from events where events.company_id = dispatches.company_id and events.dispatch_id = dispatches.dispatch_id
    and kind in ('webhook', 'polled') and facts->>'status' = 'paid' and facts->>'changed' = 'true')`

/**
 * The invoices that a company has sent and a vendor has accepted, without tests: those that may be dated or paid in a period. `limit`: how
 * many are read at most; throws what `tooMany` makes where there are more.
 */
export async function* sentInvoices (
  database: Database,
  companyId: number,
  { kind, start, limit, tooMany }: { kind: ReportKind, start: Date, limit: number, tooMany: () => Error }
): AsyncGenerator<SentInvoice, void> {
  const [before, only]: [number, RawBuilder<boolean>] = kind === 'payments'
    ? [paidLater, sql`delivery_status in ('paid', 'partly_paid')`]
    : [datedLater, sql`true`]
  let [after, read] = [firstIdAt(start.getTime() - before), 0]
  for (;;) {
    const { rows } = await database.company(companyId, (queries) =>
      sql<Row>`
      select dispatches.dispatch_id as id, document_number as number, document_type as type,
        case when steps.position = 0 then dispatches.data else steps.data end as data, delivery_status as delivery,
        dispatches.created_at as created, ${kind === 'payments' ? said : sql`null`} as said, ${
        kind === 'payments' ? paid : sql`null`
      } as paid
      from dispatches join steps on steps.company_id = dispatches.company_id and steps.dispatch_id = dispatches.dispatch_id
      where dispatches.company_id = ${companyId} and dispatches.dispatch_id > ${after} and not dispatches.test
        and document_type in ('INVOICE', 'E_INVOICE', 'CREDIT') and steps.service = 'invoicing' and steps.status = 'accepted'
        and steps.rest_of is null and not steps.sandbox and ${only}
      order by dispatches.dispatch_id limit ${together}`.execute(queries))
    for (const row of rows) yield invoiceOf(row)
    read += rows.length
    if (rows.length < together) return
    if (read >= limit) throw tooMany()
    after = rows.at(-1)?.id ?? after
  }
}

function invoiceOf ({ id, number, type, data, delivery, created, said, paid }: Row): SentInvoice {
  const payments = said === null
    ? paid === null ? [] : [{ at: paid }]
    : said.map(({ at, amounts }) => ({ at: new Date(Date.parse(at)), ...(amounts !== undefined && { amounts }) }))
  return {
    id,
    ...(number !== null && { number }),
    sent: dayInFrance(created),
    data: data ?? undefined,
    ...(type === 'CREDIT' && { isCreditNote: true }),
    ...((delivery === 'rejected' || delivery === 'void') && { isVoid: true }),
    payments
  }
}
