import { type AuditStamp, noteAudit } from '@dispatch/accounts'
import type { CompanyQueries, Database } from '@dispatch/database'
import { sql } from 'kysely'
import type { EReportSettings } from '../contract/e-reports.ts'
import { type ReportRow, tablesIn } from './tables.ts'

/** A report with what is known of the dispatch that sends it; nothing as long as there is none. */
export type SentRow = Omit<ReportRow, 'counted' | 'last_status' | 'last_delivery'> & { status: string | null, delivery: string | null }
/** The same without its content, which may be tens of megabytes. */
export type SummaryRow = Omit<SentRow, 'report' | 'left_out' | 'assumed' | 'counted' | 'last_status' | 'last_delivery'>

const summaryColumns = ['report_id', 'e_reports.company_id', 'e_reports.user_id', 'kind', 'type', 'period_start', 'period_end', 'due',
  'left_counts', 'count', 'needed', 'provider_name', 'e_reports.dispatch_id', 'e_reports.created_at', 'asked_at', 'sent_at'] as const

/** What is known of the dispatch of a report. */
const statusNow = sql`(select status from dispatches where dispatches.company_id = e_reports.company_id
  and dispatches.dispatch_id = e_reports.dispatch_id)`
const deliveryNow = sql`(select delivery_status from steps where steps.company_id = e_reports.company_id
  and steps.dispatch_id = e_reports.dispatch_id and position = 0 and rest_of is null limit 1)`

const withDispatch = (queries: CompanyQueries) =>
  tablesIn(queries).selectFrom('e_reports')
    .select(summaryColumns)
    .select([
      sql<string | null>`coalesce(${statusNow}, last_status)`.as('status'),
      sql<string | null>`coalesce(${deliveryNow}, last_delivery)`.as('delivery')
    ])

/** What a company reports as; undefined before it has said so. */
export async function readSettings (database: Database, companyId: number): Promise<EReportSettings | undefined> {
  const row = await database.reading(companyId,
    (queries) =>
      tablesIn(queries).selectFrom('e_report_settings').select('settings').where('company_id', '=', companyId).executeTakeFirst())
  return row?.settings
}

export async function writeSettings (
  database: Database,
  companyId: number,
  settings: EReportSettings,
  stamp: AuditStamp
): Promise<void> {
  const stored = { settings: JSON.stringify(settings) }
  await database.company(companyId, async (queries) => {
    await tablesIn(queries).insertInto('e_report_settings').values({ company_id: companyId, ...stored })
      .onConflict((conflict) => conflict.column('company_id').doUpdateSet(stored)).execute()
    await noteAudit(queries, {
      ...stamp,
      companyId,
      action: 'e_report.settings_changed',
      object: { kind: 'company', id: String(companyId) }
    })
  })
}

export async function addReport (database: Database, row: Omit<ReportRow, 'last_status' | 'last_delivery'>): Promise<void> {
  await database.company(row.company_id, async (queries) => {
    await tablesIn(queries).insertInto('e_reports').values({
      ...row,
      report: JSON.stringify(row.report),
      left_out: JSON.stringify(row.left_out),
      left_counts: JSON.stringify(row.left_counts),
      assumed: JSON.stringify(row.assumed),
      counted: JSON.stringify(row.counted)
    }).execute()
  })
}

/** The newest first. */
export async function listReports (
  database: Database,
  companyId: number,
  { limit, after }: { limit: number, after?: string | undefined }
): Promise<SummaryRow[]> {
  return database.company(companyId, (queries) =>
    withDispatch(queries).where('e_reports.company_id', '=', companyId)
      .$if(after !== undefined, (query) => query.where('report_id', '<', after ?? ''))
      .orderBy('report_id', 'desc').limit(limit).execute())
}

export async function findReport (database: Database, companyId: number, reportId: string): Promise<SentRow | undefined> {
  return database.company(companyId,
    (queries) =>
      withDispatch(queries).select(['report', 'left_out', 'assumed']).where('e_reports.company_id', '=', companyId)
        .where('report_id', '=', reportId).executeTakeFirst())
}

type Period = Pick<ReportRow, 'kind' | 'period_start' | 'period_end'>

/** What is reported next of a period: the first report, or a correction where one was sent, or may have been. */
export async function nextType (queries: CompanyQueries, companyId: number, period: Period): Promise<ReportRow['type']> {
  return (await listRequested(queries, companyId, period)).length > 0 ? 'RE' : 'IN'
}

/** The ids of the invoices in the newest report of a period that was sent, or may have been. */
export async function readCounted (queries: CompanyQueries, companyId: number, period: Period): Promise<readonly string[]> {
  const newest = (await listRequested(queries, companyId, period)).toSorted((one, other) => one.report_id < other.report_id ? 1 : -1)[0]
  if (newest === undefined) return []
  const row = await tablesIn(queries).selectFrom('e_reports').select('counted').where('company_id', '=', companyId)
    .where('report_id', '=', newest.report_id).executeTakeFirst()
  return row?.counted ?? []
}

type Place = Pick<ReportRow, 'company_id' | 'report_id'>

/** Reports whose outcomes are kept in one transaction. */
const together = 500

/**
 * Keeps what is known of the dispatches of reports that were asked for since then, of all companies: they are forgotten before. One process
 * does so at a time.
 */
export async function keepOutcomes ({ owner }: Database, since: Date): Promise<void> {
  let after: Place | undefined
  do after = await keepSome(owner, since, after)
  while (after !== undefined)
}

/** One look; answers behind which report the next one begins, undefined where there is none. */
async function keepSome (owner: Database['owner'], since: Date, after: Place | undefined): Promise<Place | undefined> {
  return owner.transaction().execute(async (queries) => {
    const { rows: [lock] } = await sql<{ mine: boolean }>`
      select pg_try_advisory_xact_lock(hashtextextended('document-dispatch e-reports', 0)) as mine`.execute(queries)
    if (lock?.mine !== true) return undefined
    const { rows } = await sql<Place>`
      with page as materialized (
        select company_id, report_id, ${statusNow} as status, ${deliveryNow} as delivery from e_reports where asked_at >= ${since}
          and (${after === undefined} or (company_id, report_id) > (${after?.company_id ?? 0}, ${after?.report_id ?? null}::uuid))
        order by company_id, report_id limit ${together}
      ), kept as (
        update e_reports set last_status = page.status, last_delivery = page.delivery from page
        where e_reports.company_id = page.company_id and e_reports.report_id = page.report_id and page.status is not null
          and (page.status, page.delivery) is distinct from (last_status, last_delivery)
      )
      select company_id, report_id from page order by company_id, report_id`.execute(queries)
    return rows.length < together ? undefined : rows.at(-1)
  })
}

/** Removes the drafts of all companies that were made before a moment. */
export async function removeOldDrafts ({ owner }: Database, before: Date): Promise<void> {
  await tablesIn(owner).deleteFrom('e_reports').where('asked_at', 'is', null).where('created_at', '<', before).where(isUnrecorded).execute()
}

/** Those of a period that were sent, or may have been, and are not certainly refused. */
async function listRequested (queries: CompanyQueries, companyId: number, period: Period): Promise<SummaryRow[]> {
  const rows = await withDispatch(queries).where('e_reports.company_id', '=', companyId).where('kind', '=', period.kind)
    .where('period_start', '=', period.period_start).where('period_end', '=', period.period_end).execute()
  return rows.filter((row) => isRequested(row) && !isOver(row))
}

/** It was sent, or may have been. */
function isRequested ({ status, asked_at: requested }: SummaryRow): boolean {
  return status !== null || requested !== null
}

/** It has certainly not been taken, and is not taken any more. */
function isOver ({ status, delivery }: SummaryRow): boolean {
  return status === 'failed' || status === 'cancelled' || delivery === 'failed' || delivery === 'deleted'
}

const locked = (queries: CompanyQueries, companyId: number) =>
  sql`select pg_advisory_xact_lock(hashtextextended('e_reports', ${companyId}))`.execute(queries)

/**
 * Notes that a report may be sent from now on. `gone` where it is not there any more; `other` where another one of its period was sent
 * meanwhile: it would be of the other type, or take the place of a newer one.
 */
export async function askFor (
  database: Database,
  { company_id: companyId, report_id: reportId, ...row }: SentRow,
  stamp: AuditStamp
): Promise<'asked' | 'gone' | 'other'> {
  return database.company(companyId, async (queries) => {
    await locked(queries, companyId)
    const found = await tablesIn(queries).selectFrom('e_reports').select('asked_at').where('company_id', '=', companyId)
      .where('report_id', '=', reportId).executeTakeFirst()
    if (found === undefined) return 'gone'
    const requested = await listRequested(queries, companyId, row)
    // The ids begin with their time.
    if (requested.some(({ report_id: other }) => other > reportId)) return 'other'
    if (found.asked_at !== null) return 'asked'
    if ((requested.length > 0 ? 'RE' : 'IN') !== row.type) return 'other'
    await tablesIn(queries).updateTable('e_reports').set({ asked_at: stamp.at }).where('company_id', '=', companyId)
      .where('report_id', '=', reportId).execute()
    await noteAudit(queries, { ...stamp, companyId, action: 'e_report.sent', object: { kind: 'e_report', id: reportId } })
    return 'asked'
  })
}

/** Notes that the dispatch of a report is recorded. */
export async function noteSent (database: Database, companyId: number, reportId: string, at: Date): Promise<void> {
  await database.company(companyId,
    (queries) =>
      tablesIn(queries).updateTable('e_reports').set({ sent_at: at }).where('company_id', '=', companyId).where('report_id', '=', reportId)
        .where('sent_at', 'is', null).execute())
}

/** Makes a draft again of a report of which no dispatch was recorded, because that was refused. */
export async function takeBack (database: Database, companyId: number, reportId: string): Promise<void> {
  await database.company(companyId, async (queries) => {
    await locked(queries, companyId)
    await tablesIn(queries).updateTable('e_reports').set({ asked_at: null }).where('company_id', '=', companyId)
      .where('report_id', '=', reportId).where('sent_at', 'is', null).where(isUnrecorded).execute()
  })
}

const isUnrecorded = sql<boolean>`not exists (select from dispatches where dispatches.company_id = e_reports.company_id
  and dispatches.dispatch_id = e_reports.dispatch_id)`

/** Removes a draft. False where there is none: what may have been sent stays. */
export async function removeDraft (database: Database, companyId: number, reportId: string, stamp: AuditStamp): Promise<boolean> {
  return database.company(companyId, async (queries) => {
    const { numDeletedRows: removed } = await tablesIn(queries).deleteFrom('e_reports').where('company_id', '=', companyId)
      .where('report_id', '=', reportId).where('asked_at', 'is', null).where(isUnrecorded).executeTakeFirst()
    if (removed === 0n) return false
    await noteAudit(queries, { ...stamp, companyId, action: 'e_report.removed', object: { kind: 'e_report', id: reportId } })
    return true
  })
}

/** Rows of a company in each table, for the tests of the walls between companies. */
export async function fillReports (queries: Database['owner'], companyId: number): Promise<void> {
  await sql`insert into e_report_settings (company_id, settings) values (${companyId}, '{}')`.execute(queries)
  await sql`insert into e_reports (report_id, company_id, user_id, kind, type, period_start, period_end, due, report, left_out, left_counts,
      assumed, count, needed, provider_name, dispatch_id, created_at)
    select gen_random_uuid(), ${companyId}, min(user_id), 'payments', 'IN', '', '', '', '{}', '[]', '{}', '[]', 0, 0, '', gen_random_uuid(),
      now() from users where company_id = ${companyId}`.execute(queries)
}
