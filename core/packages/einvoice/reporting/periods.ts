import { midnightOf } from '@dispatch/common'
import type { ReportKind, ReportPeriod } from './report.ts'

/** How a business declares its VAT in France, and so for which periods it reports. */
export const vatRegimes = {
  NORMAL_MONTHLY: 'régime réel normal, monthly: sales by ten days',
  NORMAL_QUARTERLY: 'régime réel normal, quarterly: sales by month',
  SIMPLIFIED: 'régime simplifié: sales by month',
  EXEMPT: 'franchise en base: sales by two months'
} as const
export type VatRegime = keyof typeof vatRegimes

/** The period in which a day (YYYY-MM-DD) is, and the last day on which it may be reported. */
export function reportPeriod (regime: VatRegime, kind: ReportKind, day: string): ReportPeriod & { due: string } {
  const [year, month, date] = [Number(day.slice(0, 4)), Number(day.slice(5, 7)), Number(day.slice(8))]
  if (regime === 'EXEMPT') {
    const first = month - (month + 1) % 2
    return { start: written(year, first, 1), end: written(year, first + 2, 0), due: thirtieth(year, first + 2) }
  }
  if (regime === 'NORMAL_MONTHLY' && kind === 'transactions') {
    const [from, to] = date <= 10 ? [1, 10] : date <= 20 ? [11, 20] : [21, lastOf(year, month)]
    return { start: written(year, month, from), end: written(year, month, to), due: written(year, month, to + 10) }
  }
  const due = regime === 'SIMPLIFIED' ? thirtieth(year, month + 1) : written(year, month + 1, 10)
  return { start: written(year, month, 1), end: written(year, month + 1, 0), due }
}

/** The day in France at a moment. */
export function dayInFrance (moment: Date): string {
  return paris.format(moment)
}

/** Sweden writes YYYY-MM-DD. */
const paris = new Intl.DateTimeFormat('sv-SE', { timeZone: 'Europe/Paris' })

/** Months beyond December are of the next year, and the day 0 is the last one of the month before. */
function written (year: number, month: number, date: number): string {
  const moment = midnightOf(`${year}-01-01`)
  moment.setUTCMonth(month - 1, date)
  return moment.toISOString().slice(0, 10)
}

/** The 30th of a month, and of February its last day. */
function thirtieth (year: number, month: number): string {
  return written(year, month, Math.min(30, lastOf(year, month)))
}

function lastOf (year: number, month: number): number {
  return Number(written(year, month + 1, 0).slice(8))
}
