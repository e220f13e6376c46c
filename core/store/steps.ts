import { sql } from 'kysely'
import { DispatchError } from '../contract/errors.ts'
import type { JsonObject } from '../contract/json.ts'
import type { ProviderResponse } from '../contract/response.ts'
import type { DispatchStatus, EventKind, StepStatus } from '../contract/states.ts'
import { asOwner, type Database } from './database.ts'
import { insertDocuments, type NewDocument } from './documents.ts'
import { nextLookAt, type Enqueue, type NextLook } from './lease.ts'
import { isoText, later } from './moment.ts'
import type { EventActor, StepError } from './schema.ts'

/** A step of a dispatch, and the run that works on it. */
export type StepOfRun = { companyId: number, dispatchId: string, stepId: string, runId: string }

/** A step that is about to be done: by which provider, with what was made for it since it was recorded. */
export type NewAttempt = StepOfRun & {
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
export async function beginAttempt (database: Database, { companyId, dispatchId, stepId, runId, provider, document, pictures = [], made }: NewAttempt): Promise<number> {
  const { now } = database
  const events = [
    ...(document === undefined ? [] : [{ kind: 'rendered' satisfies EventKind, facts: { documentId: document.documentId, size: document.size, sha256: document.sha256, ...(document.pages === undefined ? {} : { pages: document.pages }) } }]),
    ...(provider === undefined ? [] : [{ kind: 'calling' satisfies EventKind, facts: { providerName: provider.code, providerVersion: provider.version } }])
  ]
  return database.company(companyId, async (queries) => {
    const { rows: [done] } = await sql<{ begun: boolean, number: number | null }>`
      with run as (
        select 1 from dispatches where dispatch_id = ${dispatchId} and company_id = ${companyId} and run_id = ${runId} for share
      ), document as (${insertDocuments(companyId, dispatchId, document === undefined ? pictures : [document, ...pictures], now)}
      ), step as (
        update steps set status = 'calling', provider_version = ${provider?.version ?? null}, error = null, next_look_at = null, next_try_at = null,
          document_id = coalesce(${document?.documentId ?? null}, document_id), made = coalesce(${made === undefined ? null : JSON.stringify(made)}, made)
        from run where step_id = ${stepId} and company_id = ${companyId} and status in ('planned', 'unavailable', 'uncertain') returning step_id
      ), event as (
        insert into events (company_id, dispatch_id, step_id, kind, actor, facts, at)
        select ${companyId}, ${dispatchId}, ${stepId}, kind, '{"kind":"system"}', facts, ${now}
        from jsonb_to_recordset(${JSON.stringify(events)}) as event (kind text, facts jsonb), step
      ), attempt as (
        insert into attempts (step_id, number, company_id, provider_version, started_at)
        select step_id, (select count(*) + 1 from attempts where step_id = ${stepId}), ${companyId}, version, ${now}
        from step, (select ${provider?.version ?? null}::text as version) given where version is not null
        returning number
      )
      select exists (select from step) as begun, (select number from attempt)`.execute(queries)
    if (done?.begun !== true) throw new DispatchError('conflict', 'The step is not waiting to be called: another run has it.', { dispatchId })
    return done.number ?? 0
  })
}

/** What came of a step: what the provider answered (nothing where none was needed), or why it could not be asked. */
export type Settlement =
  | { outcome: 'accepted', response: ProviderResponse | null }
  | { outcome: 'rejected' | 'unavailable' | 'uncertain', error: StepError }

/**
 * What follows a settlement. `status`: what the dispatch becomes; undefined: what it was, for a step that is deferred. With
 * `running` the run goes on, else its lease ends. `tryAfter`: seconds until the step is tried again by itself, its price stays held
 * until then; `look`: when it is looked at again. `detached`: no client waits for the end any more. `also` is done in
 * the same transaction, and `tell` where no client waits.
 */
export type Following = { status?: DispatchStatus, tryAfter?: number, look?: NextLook, detached?: boolean, also?: Enqueue, tell?: Enqueue }

/** The states of a step of which something is still to be learnt. */
const open: readonly StepStatus[] = ['planned', 'calling', 'unavailable', 'uncertain']

/** The states after which nothing of what a dispatch still holds is needed. */
const ends: ReadonlySet<DispatchStatus> = new Set(['succeeded', 'failed', 'partial', 'cancelled'])

/**
 * Records what came of a step in one transaction with its price: captured when accepted, released when not, kept held
 * while nobody knows or it is tried again; what later steps hold is released where the dispatch ends. Throws `conflict`
 * unless the run has the dispatch and the step is open, or in one of the states `from`.
 */
export async function settleStep (database: Database, step: StepOfRun & { actor: EventActor, kind?: EventKind, facts?: JsonObject, from?: readonly StepStatus[] }, settlement: Settlement, following: Following): Promise<void> {
  const { now } = database
  const { companyId, dispatchId, stepId, runId, actor, from = open } = step
  const { status, tryAfter, look, detached = false, also, tell } = following
  const { outcome } = settlement
  const response = settlement.outcome === 'accepted' ? settlement.response : null
  const error = settlement.outcome === 'accepted' ? null : settlement.error
  const accepted = outcome === 'accepted'
  const keeps = outcome === 'uncertain' || tryAfter !== undefined
  const nextTryAt = tryAfter === undefined ? undefined : later(now, tryAfter)
  const facts = {
    ...step.facts,
    outcome,
    ...(error === null ? {} : { error: error.word }),
    ...(response === null ? {} : { remoteId: response.id })
  }
  const due = nextTryAt === undefined ? sql`'{}'` : sql`jsonb_build_object('nextTryAt', ${isoText(nextTryAt)})`
  const kind: EventKind = step.kind ?? (actor.kind === 'provider' ? 'answered' : accepted ? 'done' : 'failed')
  await database.company(companyId, async (queries) => {
    const { rows: [settled] } = await sql<{ detached: boolean }>`
      with run as (
        select dispatch_id, detached from dispatches where dispatch_id = ${dispatchId} and company_id = ${companyId} and run_id = ${runId} for update
      ), before as (
        select step_id, held, price, run.detached or ${detached} as detached from steps, run
        where step_id = ${stepId} and company_id = ${companyId} and status = any(${from}) for update of steps
      ), rest as (
        select steps.step_id, steps.held from steps, before
        where ${status !== undefined && ends.has(status)} and steps.dispatch_id = ${dispatchId} and steps.company_id = ${companyId} and steps.step_id <> ${stepId}
          and steps.held > 0 and deferred_on is null for update of steps
      ), step as (
        update steps set status = ${outcome}, remote_id = ${response?.id ?? null}, response = ${response && JSON.stringify(response)}, error = ${error && JSON.stringify(error)},
          charged = case when ${accepted} then before.price else 0 end, held = case when ${keeps} then before.held else 0 end,
          tries = case when ${nextTryAt !== undefined} then tries + 1 else tries end, next_try_at = ${status === undefined ? nextTryAt ?? null : null},
          generation = case when ${outcome === 'rejected'} then generation + 1 else generation end,
          uncertain_at = case when ${outcome === 'uncertain'} then coalesce(uncertain_at, ${now}) end, looks = case when ${outcome === 'uncertain'} then looks else 0 end,
          next_look_at = ${look === undefined ? null : nextLookAt(now, sql<Date>`coalesce(uncertain_at, ${now})`, look)}
        from before where steps.step_id = ${stepId} and company_id = ${companyId}
      ), released as (
        update steps set held = 0 from rest where steps.step_id = rest.step_id and company_id = ${companyId}
      ), attempt as (
        update attempts set answered_at = ${now}, outcome = ${outcome}, error = ${error && JSON.stringify(error)}
        from before where attempts.step_id = ${stepId} and company_id = ${companyId} and answered_at is null
      ), dispatch as (
        update dispatches set status = coalesce(${status ?? null}, status), detached = before.detached,
          run_id = case when ${status === 'running'} then run_id end, leased_until = case when ${status === 'running'} then leased_until end,
          finished_at = case when ${status === undefined} then finished_at when ${status === 'running' || status === 'queued'} then null else ${now}::timestamptz end,
          next_try_at = case when ${status === undefined} then dispatches.next_try_at else ${status === 'queued' ? nextTryAt ?? now : null}::timestamptz end
        from before where dispatch_id = ${dispatchId} and company_id = ${companyId}
      ), event as (
        insert into events (company_id, dispatch_id, step_id, kind, actor, facts, at)
        select ${companyId}, ${dispatchId}, step_id, ${kind}, ${JSON.stringify(actor)}, ${JSON.stringify(facts)}::jsonb || ${due}, ${now} from before
      )
      select detached from before`.execute(queries)
    if (settled === undefined) throw new DispatchError('conflict', 'The step was settled by another run.', { dispatchId })
    for (const follow of [also, settled.detached ? tell : undefined]) await follow?.(await asOwner(queries))
  })
}

/** The number of the last attempt at a step; 0 where there was none. */
export async function lastAttempt (database: Database, { companyId, stepId }: Pick<StepOfRun, 'companyId' | 'stepId'>): Promise<number> {
  const last = await database.company(companyId, (queries) => queries.selectFrom('attempts').select('number')
    .where('company_id', '=', companyId).where('step_id', '=', stepId).orderBy('number', 'desc').limit(1).executeTakeFirst())
  return last?.number ?? 0
}

/** What came of one attempt at a step. */
type Answered = Omit<StepOfRun, 'runId'> & { attempt: number, settlement: Settlement }

/** Whether the answer to an attempt is recorded: with the attempt or, where it came late, in the timeline. `unknown`: there is no such attempt. */
export async function whetherRecorded (database: Database, { companyId, dispatchId, stepId, attempt, settlement: { outcome } }: Answered): Promise<'recorded' | 'open' | 'unknown'> {
  const { rows: [found] } = await database.company(companyId, (queries) => sql<{ recorded: boolean }>`
    select coalesce(outcome = ${outcome}, false) or exists (
      select from events where company_id = ${companyId} and dispatch_id = ${dispatchId} and step_id = ${stepId} and kind = 'corrected' and (facts->>'attempt')::integer = ${attempt}
    ) as recorded
    from attempts where step_id = ${stepId} and company_id = ${companyId} and number = ${attempt}`.execute(queries))
  return found === undefined ? 'unknown' : found.recorded ? 'recorded' : 'open'
}

/** Notes in the timeline what came of an attempt when it changes nothing any more. */
export async function noteLateAnswer (database: Database, { companyId, dispatchId, stepId, attempt, actor, settlement }: Answered & { actor: EventActor }): Promise<void> {
  const told = settlement.outcome === 'accepted' ? { remoteId: settlement.response?.id ?? null } : { error: settlement.error.word }
  await database.company(companyId, (queries) => queries.insertInto('events').values({
    company_id: companyId, dispatch_id: dispatchId, step_id: stepId, kind: 'corrected', actor: JSON.stringify(actor),
    facts: JSON.stringify({ attempt, outcome: settlement.outcome, ...told, changed: false }), at: database.now
  }).execute())
}

/** Gives a step a document that a provider made, in place of ours; `fresh` where it was not recorded before. `made`: what is noted of it beside what was made. */
export async function replaceDocument (database: Database, { companyId, dispatchId, stepId }: Omit<StepOfRun, 'runId'>, { documentId, fresh, made }: { documentId: string, fresh?: NewDocument, made?: JsonObject }): Promise<void> {
  const { now } = database
  await database.company(companyId, async (queries) => {
    await sql`
      with document as (${insertDocuments(companyId, dispatchId, fresh === undefined ? [] : [fresh], now)}
      ), step as (
        update steps set document_id = ${documentId}, made = case when ${made === undefined} then made else coalesce(made, '{}') || ${JSON.stringify(made ?? {})} end where step_id = ${stepId} and company_id = ${companyId}
      )
      insert into events (company_id, dispatch_id, step_id, kind, actor, facts, at)
      values (${companyId}, ${dispatchId}, ${stepId}, ${'fetched' satisfies EventKind}, '{"kind":"system"}', ${JSON.stringify({ documentId })}, ${now})`.execute(queries)
  })
}
