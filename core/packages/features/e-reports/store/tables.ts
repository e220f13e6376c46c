import type { CompanyQueries, Database } from '@dispatch/database'
import type { EReport, LeftOut, ReportKind } from '@dispatch/einvoice'
import type { ColumnType, Selectable } from 'kysely'
import type { EReportSettings } from '../contract/e-reports.ts'

type Json<T> = ColumnType<T, string, string>

export type Tables = {
  e_report_settings: { company_id: number, settings: Json<EReportSettings> }
  e_reports: {
    report_id: string
    company_id: number
    user_id: number
    kind: ReportKind
    type: EReport['type']
    period_start: string
    period_end: string
    due: string
    report: Json<EReport>
    left_out: Json<LeftOut[]>
    left_counts: Json<Record<string, number>>
    assumed: Json<string[]>
    counted: Json<string[]>
    count: number
    needed: number
    provider_name: string
    dispatch_id: string
    created_at: Date
    asked_at: Date | null
    sent_at: Date | null
    last_status: string | null
    last_delivery: string | null
  }
}

export type ReportRow = Selectable<Tables['e_reports']>

/** Queries that know the tables of reports. */
export const tablesIn = (queries: CompanyQueries | Database['owner']) => queries.$extendTables<Tables>()
