import { checkReport, type EReport, type LeftOut } from '@dispatch/einvoice'
import type { EReportSummary, EReportView, ReportState } from '../contract/e-reports.ts'
import type { SentRow, SummaryRow } from '../store/e-reports.ts'

/** What has become of a report, by the dispatch that sends it. */
export function stateOf ({ status, delivery, sent_at: sent }: Pick<SentRow, 'status' | 'delivery' | 'sent_at'>): ReportState {
  // The dispatch was forgotten, and nobody has kept what became of it.
  if (status === null) return sent === null ? 'draft' : 'uncertain'
  if (status === 'queued' || status === 'running') return 'sending'
  if (status === 'failed' || status === 'uncertain' || status === 'cancelled') return status
  if (delivery === 'available') return 'accepted'
  return delivery === 'failed' || delivery === 'deleted' ? 'refused' : 'sent'
}

export function summaryOf (row: SummaryRow): EReportSummary {
  const { report_id: id, kind, type, period_start: start, period_end: end, due, count, needed, created_at: createdAt } = row
  return {
    id,
    kind,
    type,
    period: { start, end, due },
    state: stateOf(row),
    count,
    needed,
    createdAt: createdAt.toISOString(),
    dispatchId: stateOf(row) === 'draft' ? null : row.dispatch_id
  }
}

export function viewOf (row: SentRow): EReportView {
  const { report, left_out: left, left_counts: leftCounts, assumed } = row
  return {
    ...summaryOf(row),
    ...contentOf(report),
    left: left.map(leftOf),
    leftCounts,
    assumed,
    problems: checkReport(report)
  }
}

function contentOf (report: EReport): Pick<EReportView, 'invoices' | 'days'> {
  if (report.kind === 'payments') {
    return {
      invoices: report.invoices.map(({ number, date, payment }) => ({ number, date, paid: payment.date, parts: [...payment.parts] })),
      days: report.days.map(({ date, parts }) => ({ date, parts: [...parts] }))
    }
  }
  return {
    invoices: report.invoices.map(({ number, date, customer, base, tax }) => ({
      number,
      date,
      ...(customer.id !== undefined && { customer: customer.id.id }),
      base,
      tax
    })),
    days: report.days.map(({ date, category, base, tax, count, taxes }) => ({ date, category, base, tax, count, parts: [...taxes] }))
  }
}

function leftOf ({ of: dispatchId, problems, ...left }: LeftOut): EReportView['left'][number] {
  return { dispatchId, ...left, ...(problems !== undefined && { problems: [...problems] }) }
}
