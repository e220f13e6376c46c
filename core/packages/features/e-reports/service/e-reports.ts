import { type Actor, type AuditAuthor, requireService } from '@dispatch/accounts'
import { type Log, midnightOf } from '@dispatch/common'
import { DispatchError, refusal } from '@dispatch/contract'
import { configurationOf, type Configurations, type Pipeline, type Receive } from '@dispatch/core'
import type { Database } from '@dispatch/database'
import { checkReport, dayInFrance, type EReport, gatherPayments, gatherTransactions, type LeftOut, reportPeriod, type SentInvoice,
  writeReport } from '@dispatch/einvoice'
import { token } from '@dispatch/plugins/feature'
import { runEvery } from '@dispatch/queue'
import { Readable } from 'node:stream'
import type { EReportSettings, EReportSummary, EReportView, NewEReport } from '../contract/e-reports.ts'
import { addReport, askFor, findReport, keepOutcomes, listReports, nextType, noteSent, readCounted, readSettings, removeDraft,
  removeOldDrafts, type SentRow, takeBack, writeSettings } from '../store/e-reports.ts'
import { sentInvoices } from '../store/sent-invoices.ts'
import { stateOf, summaryOf, viewOf } from './view.ts'

/** Who does something for a company. */
export type By = { actor: Actor, author: AuditAuthor }

/** What companies report to the French tax authority. */
export type EReports = {
  settings: (companyId: number) => Promise<EReportSettings | undefined>
  setSettings: (by: By, settings: EReportSettings) => Promise<EReportSettings>
  list: (companyId: number, page: { limit: number, after?: string | undefined }) => Promise<EReportSummary[]>
  /**
   * Makes a draft of the period of a day, of what was sent until now. Throws `conflict` where the company has not said as whom it reports,
   * or has sent too much to be read.
   */
  make: (by: By, requested: NewEReport) => Promise<EReportView>
  find: (companyId: number, id: string) => Promise<EReportView | undefined>
  /** As it is sent. Throws `validation_failed` with the rules that it breaks. */
  xml: (companyId: number, id: string) => Promise<string | undefined>
  /**
   * Sends a draft, once however often that is asked for. Throws `conflict` where its period is not over, nothing is in it, another report
   * of the period was sent since it was made, or it would be a test; and what keeps a dispatch from being recorded.
   */
  send: (by: By & { requestId: string }, id: string) => Promise<EReportView | undefined>
  /** Removes a draft; false where there is none. Throws `conflict` for what may have been sent. */
  remove: (by: By, id: string) => Promise<boolean>
  /** Keeps what has become of reports that were sent, and removes drafts that nobody has sent for 90 days. */
  tidy: () => Promise<void>
}

export const eReports = token<EReports>('eReports')

/** The most invoices that are read for a report. */
export const maxInvoices = 20_000
/** The most of what is left out, and of what is assumed, that a report names. */
const maxNamed = 1_000

/** Milliseconds for which a dispatch that was asked for would certainly be there. */
const askedFor = 7 * 86_400_000
/** Milliseconds for which a draft is kept. */
const draftsFor = 90 * 86_400_000
/** After these a dispatch may be there. */
const mayBeRecorded: ReadonlySet<string> = new Set(['idempotency_in_progress', 'recording_unknown', 'timeout'])

type Parts = {
  configurations: Pick<Configurations, 'latest'>
  database: Database
  newId: () => string
  now: () => Date
  pipeline: Pick<Pipeline, 'dispatch'>
  receive: Receive
  retentionDays: number
}

const stamp = ({ now }: Parts, { author }: By) => ({ author, at: now() })

async function make (
  { database, newId, now }: Parts,
  { actor: { companyId, userId } }: By,
  { kind, day }: NewEReport
): Promise<EReportView> {
  const settings = await readSettings(database, companyId)
  if (settings === undefined) {
    throw new DispatchError('conflict', 'Say first as whom the company reports: PUT /api/v1/e-reports/settings.')
  }
  const { siren, name, platform, regime, providerName, usualNature } = settings
  const { due, ...period } = reportPeriod(regime, kind, day)
  const kept = new Set<string>()
  const sent = noting(kept, sentInvoices(database, companyId, { kind, start: midnightOf(period.start), limit: maxInvoices, tooMany }))
  const gathering = { siren, period, ...(usualNature !== undefined && { usualNature }) }
  const gathered = kind === 'transactions' ? await gatherTransactions(sent, gathering) : await gatherPayments(sent, gathering)
  const { left, assumed, counted, ...content } = gathered
  const [reportId, time] = [newId(), now()]
  const row = { kind, period_start: period.start, period_end: period.end }
  const { type, before } = await database.company(companyId, async (queries) => ({
    type: await nextType(queries, companyId, row),
    before: await readCounted(queries, companyId, row)
  }))
  const gone = before.filter((id) => !kept.has(id))
  if (gone.length > 0) {
    throw new DispatchError('conflict',
      `Of the last report of this period ${gone.length} invoices are no longer kept, and a correction would lose them: report it at the ` +
        'platform itself.')
  }
  const report: EReport = {
    id: reportId,
    type,
    issued: time.toISOString().slice(0, 19),
    sender: platform,
    declarant: { siren, name, role: 'SE' },
    period,
    ...content
  }
  await addReport(database, {
    ...row,
    report_id: reportId,
    company_id: companyId,
    user_id: userId,
    type,
    due,
    report,
    left_out: named(left),
    left_counts: countsOf(left),
    assumed: assumed.slice(0, maxNamed),
    counted: [...counted],
    count: counted.length,
    needed: left.filter(({ needed }) => needed).length,
    provider_name: providerName,
    dispatch_id: newId(),
    created_at: time,
    asked_at: null,
    sent_at: null
  })
  const made = await findReport(database, companyId, reportId)
  if (made === undefined) throw new Error(`The report ${reportId} is gone.`)
  return viewOf(made)
}

/** Hands a report to the queue; false where it is gone. */
async function hand (parts: Parts, by: By & { requestId: string }, row: SentRow): Promise<boolean> {
  const { now, configurations, database, receive, pipeline } = parts
  const { actor, requestId } = by
  const { companyId } = actor
  const { report_id: id, report, provider_name: providerName, dispatch_id: dispatchId, period_start: start, period_end: end } = row
  const time = now()
  if (dayInFrance(time) <= end) {
    throw new DispatchError('conflict', `The period is not over: it can be reported when ${end} has passed.`, { reason: 'not_over' })
  }
  if (report.invoices.length + report.days.length === 0) {
    throw new DispatchError('conflict', 'There is nothing to report.', { reason: 'nothing_there' })
  }
  if (row.asked_at !== null && time.getTime() - row.asked_at.getTime() > askedFor) {
    throw new DispatchError('conflict', 'Nobody knows any more whether it was sent: make a new report of the period.')
  }
  if (actor.key?.mode === 'test' || configurationOf(await configurations.latest(companyId), actor, providerName)?.sandbox === true) {
    throw new DispatchError('conflict',
      `It would go to a test environment of "${providerName}", and the tax authority would not get it: send it with a live configuration.`)
  }
  const xml = written(report)
  const requested = await askFor(database, row, stamp(parts, by))
  if (requested === 'other') {
    throw new DispatchError('conflict', 'Another report of this period was sent since this one was made: remove it, and make a new one.', {
      reason: 'other_report'
    })
  }
  if (requested === 'gone') return false
  const filename = `e-report-${report.kind}-${start}.xml`
  const file = await receive(companyId, { bytes: Readable.from([Buffer.from(xml)]), filename, contentType: 'application/xml' })
  try {
    await pipeline.dispatch({
      actor,
      services: ['upload'],
      body: { providerName, metadata: JSON.stringify({ eReport: id }) },
      requestId,
      mode: 'asynchronous',
      version: '1.1.0',
      idempotencyKey: `e-report ${id}`,
      dispatchId,
      preparedBy: row.user_id,
      file
    })
  } catch (error) {
    if (error instanceof DispatchError && !mayBeRecorded.has(error.word)) await takeBack(database, companyId, id)
    throw error
  }
  return true
}

async function send (parts: Parts, by: By & { requestId: string }, id: string): Promise<EReportView | undefined> {
  const { database, now } = parts
  const { companyId } = by.actor
  requireService(by.actor, 'upload')
  const row = await findReport(database, companyId, id)
  if (row === undefined) return undefined
  if (stateOf(row) === 'draft' && !await hand(parts, by, row)) return undefined
  await noteSent(database, companyId, id, now())
  const sent = await findReport(database, companyId, id)
  return sent && viewOf(sent)
}

const remove = (parts: Parts): EReports['remove'] => async (by, id) => {
  const { database } = parts
  const { companyId } = by.actor
  if (await removeDraft(database, companyId, id, stamp(parts, by))) return true
  const row = await findReport(database, companyId, id)
  if (row === undefined) return false
  throw new DispatchError('conflict', `The report is ${stateOf(row)}: only a draft can be removed.`, { reason: 'state_forbids' })
}

/**
 * Makes and sends the e-reports of companies. Throws `conflict`, with a reason, for a period that is not over, a report that is no draft,
 * and whatever else keeps one from being made or sent.
 */
export function createEReports (parts: Parts): EReports {
  const { database, now, retentionDays } = parts

  return {
    settings: (companyId) => readSettings(database, companyId),
    async setSettings (by, settings) {
      await writeSettings(database, by.actor.companyId, settings, stamp(parts, by))
      return settings
    },
    list: async (companyId, page) => (await listReports(database, companyId, page)).map(summaryOf),
    make: (by, requested) => make(parts, by, requested),
    async find (companyId, id) {
      const row = await findReport(database, companyId, id)
      return row && viewOf(row)
    },
    async xml (companyId, id) {
      const row = await findReport(database, companyId, id)
      return row && written(row.report)
    },
    send: (by, id) => send(parts, by, id),
    async tidy () {
      // A dispatch is kept for so long from its end on, and ends within as long.
      await keepOutcomes(database, new Date(now().getTime() - 2 * retentionDays * 86_400_000))
      await removeOldDrafts(database, new Date(now().getTime() - draftsFor))
    },
    remove: remove(parts)
  }
}

/** Tidies every hour. */
export function workOnReports ({ tidy }: Pick<EReports, 'tidy'>, log: Log): AsyncDisposable {
  const task = runEvery(3_600_000, tidy, (err) => {
    log.warn({ err }, 'e-reports were not tidied')
  })
  return { [Symbol.asyncDispose]: () => task.close() }
}

/** The invoices, while those whose data are there are noted. */
async function* noting (kept: Set<string>, sent: AsyncIterable<SentInvoice>): AsyncGenerator<SentInvoice, void> {
  for await (const one of sent) {
    if (one.data !== undefined) kept.add(one.id)
    yield one
  }
}

function tooMany (): DispatchError {
  return new DispatchError('conflict', `More than ${maxInvoices} invoices were sent: report them from the program that makes them.`)
}

/** Throws `validation_failed` with the rules that a report breaks. */
function written (report: EReport): string {
  const problems = checkReport(report)
  if (problems.length > 0) throw refusal('validation_failed', problems)
  return writeReport(report)
}

/** What somebody must mend first. */
function named (left: readonly LeftOut[]): LeftOut[] {
  return left.toSorted((one, other) => Number(other.needed) - Number(one.needed)).slice(0, maxNamed)
}

function countsOf (left: readonly LeftOut[]): Record<string, number> {
  return Object.fromEntries([...Map.groupBy(left, ({ reason }) => reason)].map(([reason, members]) => [reason, members.length]))
}
