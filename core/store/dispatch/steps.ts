import type { JsonObject } from '@dispatch/common'
import { sql } from 'kysely'
import { DispatchError } from '../../contract/errors.ts'
import type { ProviderResponse } from '../../contract/response.ts'
import type { DispatchStatus, EventKind, StepStatus } from '../../contract/states.ts'
import { databaseFunction } from '../db/database-functions.ts'
import { asOwner, type Database } from '../db/database.ts'
import type { PreparedJobs } from '../db/jobs.ts'
import type { EventActor, StepError } from '../db/schema.ts'
import { documentRow, insertDocuments, type NewDocument } from './documents.ts'
import type { ReconcileSchedule, TransactionHook } from './lease.ts'

/** A step of a dispatch, and the run that works on it. */
export type RunStepRef = { companyId: number, dispatchId: string, stepId: string, runId: string }

/** A step that is about to be done: by which provider, with what was made for it since it was recorded. */
export type NewAttempt = RunStepRef & {
  provider?: { code: string, version: string }
  document?: NewDocument
  /** Pictures of its mail. */
  pictures?: readonly NewDocument[]
  made?: JsonObject
}

/**
 * Records that a step is about to be done; answers the number of the attempt, 0 where no provider is called. Throws `conflict`
 * unless the step waits for it and the run has its dispatch, so that one of two runners wins.
 */
export async function beginAttempt (
  database: Database,
  { companyId, dispatchId, stepId, runId, provider, document, pictures = [], made }: NewAttempt
): Promise<number> {
  const given = {
    company_id: companyId,
    dispatch_id: dispatchId,
    step_id: stepId,
    run_id: runId,
    provider_version: provider?.version,
    document_id: document?.documentId,
    made,
    documents: (document === undefined ? pictures : [document, ...pictures]).map(documentRow),
    events: [
      ...(document === undefined
        ? []
        : [{
          kind: 'rendered' satisfies EventKind,
          facts: {
            documentId: document.documentId,
            size: document.size,
            sha256: document.sha256,
            ...(document.pages === undefined ? {} : { pages: document.pages })
          }
        }]),
      ...(provider === undefined
        ? []
        : [{ kind: 'calling' satisfies EventKind, facts: { providerName: provider.code, providerVersion: provider.version } }])
    ]
  }
  const begun = await database.callFunction(companyId,
    sql<{ number: number | null }>`select ${databaseFunction('attempt')}(${JSON.stringify(given)}::jsonb, ${database.now}) as number`)
  if (begun?.number == null) {
    throw new DispatchError('conflict', 'The step is not waiting to be called: another run has it.', { dispatchId })
  }
  return begun.number
}

/** What came of a step: what the provider answered (nothing where none was needed), or why it could not be asked. */
export type Settlement =
  | { outcome: 'accepted', response: ProviderResponse | null }
  | { outcome: 'rejected' | 'unavailable' | 'uncertain', error: StepError }

/**
 * What follows a settlement. `status`: what the dispatch becomes; undefined: what it was, for a step that is deferred. With
 * `running` the run goes on, else its lease ends. `tryAfter`: seconds until the step is tried again by itself, its price stays held
 * until then; `look`: when it is looked at again. `detached`: no client waits for the end any more. `jobs` are added and `also` is done in
 * the same transaction, and `tell` where no client waits.
 */
export type SettlementFollowUp = {
  status?: DispatchStatus
  tryAfter?: number
  look?: ReconcileSchedule
  detached?: boolean
  jobs?: readonly PreparedJobs[]
  also?: TransactionHook
  tell?: TransactionHook
}

/** The states of a step of which something is still to be learnt. */
const open: readonly StepStatus[] = ['planned', 'calling', 'unavailable', 'uncertain']

/** The states after which nothing of what a dispatch still holds is needed. */
const ends: ReadonlySet<DispatchStatus> = new Set(['succeeded', 'failed', 'partial', 'cancelled'])

/**
 * Records what came of a step in one transaction with its price: captured when accepted, released when not, kept held
 * while nobody knows or it is tried again; what later steps hold is released where the dispatch ends. Throws `conflict`
 * unless the run has the dispatch and the step is open, or in one of the states `from`.
 */
export async function settleStep (
  database: Database,
  step: StepToSettle,
  settlement: Settlement,
  following: SettlementFollowUp
): Promise<void> {
  const { companyId, dispatchId } = step
  const { jobs = [], also, tell } = following
  const settling = sql<{ detached: boolean | null }>`select
    ${databaseFunction('settle')}(${JSON.stringify(settledRow(step, settlement, following))}::jsonb, ${database.now},
    ${JSON.stringify(jobs)}::jsonb) as detached`
  const settled = (row: { detached: boolean | null } | undefined): boolean => {
    if (row?.detached == null) throw new DispatchError('conflict', 'The step was settled by another run.', { dispatchId })
    return row.detached
  }
  if (also === undefined && tell === undefined) {
    settled(await database.callFunction(companyId, settling))
    return
  }
  await database.company(companyId, async (queries) => {
    const { rows: [row] } = await settling.execute(await asOwner(queries))
    const detached = settled(row)
    for (const follow of [also, detached ? tell : undefined]) await follow?.(await asOwner(queries))
  })
}

/** A step of a run, who tells what came of it, what is noted of that, and in which states it may be. */
type StepToSettle = RunStepRef & { actor: EventActor, kind?: EventKind, facts?: JsonObject, from?: readonly StepStatus[] }

/** A settlement as the call takes it. */
function settledRow (
  { companyId, dispatchId, stepId, runId, actor, from = open, ...step }: StepToSettle,
  settlement: Settlement,
  { status, tryAfter, look, detached = false }: SettlementFollowUp
): Record<string, unknown> {
  const { outcome } = settlement
  const [response, error] = settlement.outcome === 'accepted' ? [settlement.response, null] : [null, settlement.error]
  const kind: EventKind = step.kind ?? (actor.kind === 'provider' ? 'answered' : outcome === 'accepted' ? 'done' : 'failed')
  return {
    company_id: companyId,
    dispatch_id: dispatchId,
    step_id: stepId,
    run_id: runId,
    outcome,
    status,
    ends: status !== undefined && ends.has(status),
    detached,
    response,
    error,
    from,
    kind,
    actor,
    facts: {
      ...step.facts,
      outcome,
      ...(error === null ? {} : { error: error.word }),
      ...(response === null ? {} : { remoteId: response.id })
    },
    try_after: tryAfter,
    look_after: look?.after,
    look_last: look?.last
  }
}

/** The number of the last attempt at a step; 0 where there was none. */
export async function lastAttempt (database: Database, { companyId, stepId }: Pick<RunStepRef, 'companyId' | 'stepId'>): Promise<number> {
  const last = await database.company(companyId, (queries) =>
    queries.selectFrom('attempts').select('number')
      .where('company_id', '=', companyId).where('step_id', '=', stepId).orderBy('number', 'desc').limit(1).executeTakeFirst())
  return last?.number ?? 0
}

/** What came of one attempt at a step. */
type Answered = Omit<RunStepRef, 'runId'> & { attempt: number, settlement: Settlement }

/**
 * Whether the answer to an attempt is recorded: with the attempt or, where it came late, in the timeline. `unknown`: there is no such
 * attempt.
 */
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

/** Notes in the timeline what came of an attempt when it changes nothing any more; the run that notes it must have the dispatch. */
export async function noteLateAnswer (
  database: Database,
  { companyId, dispatchId, stepId, runId, attempt, actor, settlement }: RunStepRef & Answered & { actor: EventActor }
): Promise<void> {
  const told = settlement.outcome === 'accepted' ? { remoteId: settlement.response?.id ?? null } : { error: settlement.error.word }
  const facts = { attempt, outcome: settlement.outcome, ...told, changed: false }
  await database.company(companyId, (queries) =>
    sql`
    insert into events (company_id, dispatch_id, step_id, kind, actor, facts, at)
    select company_id, dispatch_id, ${stepId}, ${'corrected' satisfies EventKind}, ${JSON.stringify(actor)}::jsonb,
      ${JSON.stringify(facts)}::jsonb, ${database.now}
    from dispatches where dispatch_id = ${dispatchId} and company_id = ${companyId} and run_id = ${runId}`.execute(queries))
}

/**
 * Gives a step a document that a provider made, in place of ours; `fresh` where it was not recorded before. `made`: what is noted of it
 * beside what was made.
 */
export async function replaceDocument (
  database: Database,
  { companyId, dispatchId, stepId }: Omit<RunStepRef, 'runId'>,
  { documentId, fresh, made }: { documentId: string, fresh?: NewDocument, made?: JsonObject }
): Promise<void> {
  const { now } = database
  await database.company(companyId, async (queries) => {
    await sql`
      with document as (${insertDocuments(companyId, dispatchId, fresh === undefined ? [] : [fresh], now)}
      ), step as (
        update steps set document_id = ${documentId}, made = case when ${made === undefined} then made
          else coalesce(made, '{}') || ${JSON.stringify(made ?? {})} end where step_id = ${stepId} and company_id = ${companyId}
      )
      insert into events (company_id, dispatch_id, step_id, kind, actor, facts, at)
      values (${companyId}, ${dispatchId}, ${stepId}, ${'fetched' satisfies EventKind}, '{"kind":"system"}',
        ${JSON.stringify({ documentId })}, ${now})`.execute(queries)
  })
}
