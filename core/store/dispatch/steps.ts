import type { JsonObject } from '@dispatch/common'
import { type ConfiguredBy, DispatchError, type DispatchStatus, type EventKind, type ProviderResponse,
  type StepStatus } from '@dispatch/contract'
import { asOwner, type Database } from '@dispatch/database'
import { type EventActor, type PreparedJobs, sealed, type StepCandidate, type StepError } from '@dispatch/tables'
import { sql } from 'kysely'
import { callFunction, callFunctionWithin } from '../calls/database-functions.ts'
import { documentRow, type NewDocument } from '../calls/document-row.ts'
import type { DatabaseFunctions } from '../calls/functions.ts'
import type { ReconcileSchedule, TransactionHook } from './lease.ts'

/** A step of a dispatch, and the run that works on it. */
export type RunStepRef = { companyId: number, dispatchId: string, stepId: string, runId: string }

/**
 * A step that is about to be done: its provider, and what was made for it since it was recorded. `configuredBy`: where its provider may be
 * another one than the recorded.
 */
export type NewAttempt = RunStepRef & {
  provider?: { code: string, version: string, configuredBy?: ConfiguredBy }
  document?: NewDocument
  /** The pictures of an e-mail. */
  pictures?: readonly NewDocument[]
  made?: JsonObject
}

/**
 * Records that a step is about to be done. Answers the number of the attempt, or 0 where no provider is called. Throws `conflict` where the
 * run has lost the dispatch or the step is not waiting, so that only one of two runs goes on.
 */
export async function beginAttempt (
  database: Database,
  { companyId, dispatchId, stepId, runId, provider, document, pictures = [], made }: NewAttempt
): Promise<number> {
  const { answer: number } = await callFunction(database, 'begin_attempt', {
    company_id: companyId,
    dispatch_id: dispatchId,
    step_id: stepId,
    run_id: runId,
    provider_code: provider?.code,
    provider_version: provider?.version,
    configured_by: provider?.configuredBy,
    document_id: document?.documentId,
    made: made && await sealed(database.owner, companyId, made),
    documents: (document === undefined ? pictures : [document, ...pictures]).map(documentRow),
    events: [...(document === undefined ? [] : [renderedEvent(document)]), ...(provider === undefined ? [] : [callingEvent(provider)])],
    known: database.life.seen()
  })
  if (number === null) throw new DispatchError('conflict', 'The step is not waiting to be called: another run has it.', { dispatchId })
  return number
}

function renderedEvent ({ documentId, size, sha256, pages }: NewDocument) {
  return { kind: 'rendered' as const, facts: { documentId, size, sha256, ...(pages === undefined ? {} : { pages }) } }
}

/** The event that a provider is about to be called. */
export function callingEvent ({ code, version }: { code: string, version: string }) {
  return { kind: 'calling' as const, facts: { providerName: code, providerVersion: version } }
}

/** The outcome of a step. `response`: null for a step that no provider does. */
export type Settlement =
  | { outcome: 'accepted', response: ProviderResponse | null }
  | { outcome: 'rejected' | 'unavailable' | 'uncertain', error: StepError }

/**
 * What follows a settlement. `status`: the new status of the dispatch; with `running` the run continues, else its lease ends. Without it
 * the step is deferred, and the dispatch keeps its status. `next`: the provider that is tried now; the run continues, and the price stays
 * held. `tryAfter`: seconds until the step is tried again by itself; its price stays
 * held until then. `reconciliation`: when it is looked up again. `detached`: no client waits for the end. `jobs` are added and `also` runs
 * in the same transaction; so does `tell`, where no client waits and the dispatch is `addressed` or its company has endpoints or a feed.
 */
export type SettlementFollowUp = {
  status?: DispatchStatus
  next?: StepCandidate
  tryAfter?: number
  reconciliation?: ReconcileSchedule
  detached?: boolean
  jobs?: readonly PreparedJobs[]
  also?: TransactionHook
  tell?: TransactionHook
  addressed?: boolean
}

/** The states in which the outcome of a step is still open. */
const open: readonly StepStatus[] = ['planned', 'calling', 'unavailable', 'uncertain']

/**
 * Records the outcome of a step and moves its price in one transaction: charged when accepted, released when not, still held while the
 * outcome is uncertain or the step is tried again. When the dispatch ends, the prices of later steps are released. Throws `conflict` where
 * the run has lost the dispatch, or the step is in none of the states `from` (all open ones unless told). Answers when, by the
 * clock of the database.
 */
export async function settleStep (
  database: Database,
  step: StepToSettle,
  settlement: Settlement,
  following: SettlementFollowUp
): Promise<Date> {
  const { also, tell, addressed = false } = following
  const given = settledRow(step, settlement, following)
  if (also === undefined && (tell === undefined || !addressed)) {
    const { answer, at } = await callFunction(database, 'settle_step', { ...given, untold: tell !== undefined })
    // Otherwise nothing is recorded: the company has endpoints or a feed, which are told in the same transaction.
    if (answer !== 'untold') {
      isDetached(answer, step)
      return at
    }
  }
  return database.company(step.companyId, async (queries) => {
    const { answer, at } = await callFunctionWithin(queries, 'settle_step', given, database.now)
    const detached = isDetached(answer, step)
    const owner = await asOwner(queries)
    await also?.(owner)
    if (detached) await tell?.(owner)
    return at
  })
}

/** The answer of `settle_step`, which has none for a run that may not settle the step. */
function isDetached (answer: DatabaseFunctions['settle_step']['answer'], { dispatchId }: StepToSettle): boolean {
  if (answer === null) throw new DispatchError('conflict', 'The step was settled by another run.', { dispatchId })
  return answer === 'detached'
}

/** A step to settle: who reports its outcome, what the timeline says of it, and the states in which it may be. */
type StepToSettle = RunStepRef & { actor: EventActor, kind?: EventKind, facts?: JsonObject, from?: readonly StepStatus[] }

/** A settlement as `settle_step` takes it. */
function settledRow (
  { companyId, dispatchId, stepId, runId, actor, from = open, ...step }: StepToSettle,
  settlement: Settlement,
  { status, next, tryAfter, reconciliation, detached = false, jobs = [] }: SettlementFollowUp
) {
  const { outcome } = settlement
  const [response, error] = settlement.outcome === 'accepted' ? [settlement.response, null] : [null, settlement.error]
  const kind: EventKind = step.kind ?? (actor.kind === 'provider' ? 'answered' : outcome === 'accepted' ? 'done' : 'failed')
  return {
    company_id: companyId,
    dispatch_id: dispatchId,
    step_id: stepId,
    run_id: runId,
    from_states: from,
    outcome,
    response,
    error,
    kind,
    actor,
    facts: {
      ...step.facts,
      outcome,
      ...(error === null ? {} : { error: error.word }),
      ...(response === null ? {} : { remoteId: response.id }),
      ...(next === undefined ? {} : { nextProviderName: next.code })
    },
    status,
    detached,
    try_after: tryAfter,
    look_after: reconciliation?.after,
    look_last: reconciliation?.last,
    next,
    jobs,
    untold: false
  }
}

/** The number of the last attempt at a step; 0 where there was none. */
export async function lastAttempt (database: Database, { companyId, stepId }: Pick<RunStepRef, 'companyId' | 'stepId'>): Promise<number> {
  const last = await database.company(companyId, (queries) =>
    queries.selectFrom('attempts').select('number')
      .where('company_id', '=', companyId).where('step_id', '=', stepId).orderBy('number', 'desc').limit(1).executeTakeFirst())
  return last?.number ?? 0
}

/** The outcome of one attempt at a step. */
type Answered = Omit<RunStepRef, 'runId'> & { attempt: number, settlement: Settlement }

/** Whether the outcome of an attempt is recorded: with the attempt or, where it came late, in the timeline. `unknown`: no such attempt. */
export async function whetherRecorded (
  database: Database,
  { companyId, dispatchId, stepId, attempt, settlement: { outcome } }: Answered
): Promise<'recorded' | 'open' | 'unknown'> {
  const { rows: [found] } = await database.company(companyId, (queries) =>
    sql<{ recorded: boolean }>`
    select coalesce(outcome = ${outcome}, false) or exists (
      select from events where company_id = ${companyId} and dispatch_id = ${dispatchId} and step_id = ${stepId} and kind = 'corrected'
        and (facts->>'attempt')::integer = ${attempt}
    ) as recorded
    from attempts where step_id = ${stepId} and company_id = ${companyId} and number = ${attempt}`.execute(queries))
  return found === undefined ? 'unknown' : found.recorded ? 'recorded' : 'open'
}

/** Records in the timeline an outcome that came too late to change anything. Does nothing where the run has lost the dispatch. */
export async function noteLateAnswer (
  database: Database,
  { companyId, dispatchId, stepId, runId, attempt, actor, settlement }: RunStepRef & Answered & { actor: EventActor }
): Promise<void> {
  const reported = settlement.outcome === 'accepted' ? { remoteId: settlement.response?.id ?? null } : { error: settlement.error.word }
  const facts = { attempt, outcome: settlement.outcome, ...reported, changed: false }
  await database.company(companyId, (queries) =>
    sql`
    insert into events (company_id, dispatch_id, step_id, kind, actor, facts, at)
    select company_id, dispatch_id, ${stepId}, ${'corrected' satisfies EventKind}, ${JSON.stringify(actor)}::jsonb,
      ${JSON.stringify(facts)}::jsonb, ${database.now}
    from dispatches where dispatch_id = ${dispatchId} and company_id = ${companyId} and run_id = ${runId} for key share`.execute(queries))
}

/**
 * Replaces the document of a step by one that its provider made; `fresh`: its record, where it has none yet. `made`: added to what was
 * made, beside what of that is sealed; it says nothing about a person.
 */
export async function replaceDocument (
  database: Database,
  { companyId, dispatchId, stepId }: Omit<RunStepRef, 'runId'>,
  { documentId, fresh, made }: { documentId: string, fresh?: NewDocument, made?: JsonObject }
): Promise<void> {
  await callFunction(database, 'replace_document', {
    company_id: companyId,
    dispatch_id: dispatchId,
    step_id: stepId,
    document_id: documentId,
    documents: fresh === undefined ? [] : [documentRow(fresh)],
    made
  })
}
