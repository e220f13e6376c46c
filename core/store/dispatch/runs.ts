import type { JsonObject } from '@dispatch/common'
import { DispatchError, type DispatchStatus, type EventKind } from '@dispatch/contract'
import { hasFreeCredits, insufficientCredits, withCreditCheck } from '@dispatch/credits'
import { addSeconds, asOwner, type CompanyQueries, type Database, type OwnerQueries, type SqlTimestamp } from '@dispatch/database'
import { addJobs, columnsOf, type EventActor, isLetGo, type PreparedJobs, type Schedule, sealed, type StepError } from '@dispatch/tables'
import { sql } from 'kysely'
import { callFunction, callFunctionWithin, functionNamed } from '../calls/database-functions.ts'
import { unskipDeferred } from './deferred-states.ts'
import { type DispatchRecord, type DispatchRow, readDispatch, withSteps } from './dispatch-views.ts'
import { firstOfList } from './first-of-list.ts'
import type { DispatchStart, Lease, ReconcileSchedule, TransactionHook } from './lease.ts'

/** A dispatch and its company. */
export type DispatchRef = { companyId: number, dispatchId: string }

/**
 * Takes the lease of a dispatch in one of the states `from`, where no run has one. A lease that has expired counts as taken:
 * `recoverDispatch` ends it first, because its process may have left a call under way. `ended`: a run that has
 * surely ended, whose lease may be taken. Answers the dispatch as it is then, or undefined where the lease could not be taken.
 */
export async function acquireLease (
  database: Database,
  { companyId, dispatchId }: DispatchRef,
  { lease, from, ended }: { lease: Lease, from: readonly DispatchStatus[], ended?: string }
): Promise<DispatchRecord | undefined> {
  return database.company(companyId, async (queries) => {
    const { answer: taken } = await callFunctionWithin(queries, 'acquire_lease', {
      company_id: companyId,
      dispatch_id: dispatchId,
      run_id: lease.runId,
      lease_seconds: lease.seconds,
      from_states: from,
      ended,
      known: database.life.seen()
    }, database.now)
    return taken ? readDispatch(queries, companyId, dispatchId) : undefined
  })
}

/**
 * Takes the leases of queued dispatches of any companies that no run has, and answers these dispatches as they are then. One that another
 * transaction changes meanwhile is left out: it is taken by another run, cancelled, or found by the next sweep.
 */
export async function takeQueued (
  { owner, now, life }: Database,
  desired: readonly (DispatchRef & { lease: Lease })[]
): Promise<DispatchRecord[]> {
  const known = life.seen()
  const given = desired.map(({ companyId, dispatchId, lease: { runId, seconds } }) => ({
    company_id: companyId,
    dispatch_id: dispatchId,
    run_id: runId,
    lease_seconds: seconds,
    known
  }))
  const { rows } = await sql<DispatchRow>`
    select ${columnsOf('dispatches', 'taken')} from ${functionNamed('take_queued')}(${JSON.stringify(given)}::jsonb, ${now}) as taken`
    .execute(owner)
  return withSteps(owner, rows)
}

/** Renews leases for so many seconds from now; answers the runs that still have theirs. */
export async function renewLeases ({ vital, now }: Database, runIds: readonly string[], seconds: number): Promise<string[]> {
  if (runIds.length === 0) return []
  // A locked dispatch must not delay the renewal of the others.
  const free = vital.selectFrom('dispatches').select('dispatch_id').where('run_id', 'in', runIds).forNoKeyUpdate().skipLocked()
  const renewed = await vital.updateTable('dispatches').set({ leased_until: addSeconds(now, seconds) }).where('dispatch_id', 'in', free)
    .returning('run_id').execute()
  return renewed.flatMap(({ run_id: runId }) => runId ?? [])
}

/** Reports the end of a dispatch, in the transaction that records it. */
export type NotifyEnd = (queries: OwnerQueries, status: DispatchStatus) => Promise<void>

/**
 * Records that no client waits for the end of a run any more. If the run has ended meanwhile without reporting it, `tell` reports it now.
 */
export async function detachDispatch (
  database: Database,
  { companyId, dispatchId }: DispatchRef,
  { runId, tell }: { runId: string, tell: NotifyEnd }
): Promise<void> {
  await database.company(companyId, async (queries) => {
    const { rows: [detached] } = await sql<{ status: DispatchStatus, ended: boolean }>`
      update dispatches set detached = true where dispatch_id = ${dispatchId} and company_id = ${companyId} and not detached
        and coalesce(run_id, ${runId}) = ${runId}
      returning status, run_id is null as ended`.execute(queries)
    if (detached?.ended === true) await tell(await asOwner(queries), detached.status)
  })
}

/**
 * Gives a lease back and changes nothing else. While a step is still under way the lease is left to expire, and `recoverDispatch` ends it.
 */
export async function releaseLease (database: Database, { companyId, dispatchId }: DispatchRef, runId: string): Promise<void> {
  await callFunction(database, 'release_lease', { company_id: companyId, dispatch_id: dispatchId, run_id: runId })
}

/** Gives the lease of a run back that has done nothing: the dispatch is due `seconds` later, by its job. Answers whether it had it. */
export async function leaveDispatch (
  database: Database,
  { companyId, dispatchId }: DispatchRef,
  { runId, ...wait }: { runId: string, seconds: number, jobs: readonly PreparedJobs[] }
): Promise<boolean> {
  const given = { company_id: companyId, dispatch_id: dispatchId, run_id: runId, ...wait }
  const { answer: left } = await callFunction(database, 'leave_dispatch', given)
  return left
}

/** The states of a step that a retry may begin. */
const open = ['planned', 'unavailable', 'rejected'] as const

/** What a retry changes of the step that failed; `recipient`: of the dispatch, with these fields. */
export type Replacement = { stepId: string, fields: JsonObject, requestSettings: JsonObject, recipient?: string }

/** The columns that a replacement changes. The fields suit the provider that was called last, so no other one is tried any more. */
export async function replacedColumns (queries: CompanyQueries, companyId: number, { fields, requestSettings }: Replacement) {
  return {
    fields: JSON.stringify(await sealed(queries, companyId, fields)),
    request_settings: JSON.stringify(await sealed(queries, companyId, requestSettings)),
    providers: null
  }
}

/**
 * Continues a dispatch that ended before all its steps were done: their prices are held again, and it runs or waits for its job. Answers
 * false where it is in another state, or another run has it. Throws `insufficient_credits`, and `conflict` where the step to replace was
 * done meanwhile. `also` runs in the same transaction.
 */
export async function resumeDispatch (
  database: Database,
  { companyId, dispatchId, actor, replacement, beginning, also }: DispatchRef & {
    actor: EventActor
    replacement?: Replacement
    beginning: DispatchStart
    also?: TransactionHook
  }
): Promise<boolean> {
  const { now } = database
  const lease = 'lease' in beginning ? beginning.lease : undefined
  const requested = { company_id: companyId, price: 0 }
  const transaction = async (queries: CompanyQueries): Promise<boolean> => {
    const taken = await queries.updateTable('dispatches')
      .set({
        status: lease === undefined ? 'queued' : 'running',
        finished_at: null,
        run_id: lease?.runId ?? null,
        leased_until: lease === undefined ? null : addSeconds(now, lease.seconds),
        next_try_at: lease === undefined ? now : null,
        ...(lease === undefined ? { detached: true } : {}),
        ...(replacement === undefined ? {} : { recipient: replacement.recipient ?? null })
      })
      .where('dispatch_id', '=', dispatchId).where('company_id', '=', companyId).where('status', 'in', ['failed', 'partial']).where(
        'run_id',
        'is',
        null
      ).where('data', 'is not', null)
      .returning('dispatch_id').executeTakeFirst()
    if (taken === undefined) return false
    if (replacement !== undefined) {
      const replaced = await queries.updateTable('steps').set(await replacedColumns(queries, companyId, replacement))
        .where('step_id', '=', replacement.stepId).where('company_id', '=', companyId).where('status', 'in', open).returning('step_id')
        .executeTakeFirst()
      if (replaced === undefined) {
        throw new DispatchError('conflict', 'The step that was to be put right has been done meanwhile: read what became of it.', {
          reason: 'changed_meanwhile',
          dispatchId
        })
      }
    }
    const price = requested.price = await holdAgain(queries, { companyId, dispatchId })
    await unskipDeferred(queries, { companyId, dispatchId })
    await note(queries, {
      companyId,
      dispatchId,
      kind: 'resumed',
      actor,
      facts: { price, ...(replacement === undefined ? {} : { replaced: Object.keys(replacement.fields) }) },
      now
    })
    await also?.(queries)
    if ('jobs' in beginning) await addJobs(queries, ...beginning.jobs)
    return true
  }
  return withCreditCheck(database, requested, () => database.company(companyId, transaction))
}

/** Holds the prices of the steps that are left, and resets these to `planned` with the first of their list. Answers the sum, in credits. */
async function holdAgain (queries: CompanyQueries, { companyId, dispatchId }: DispatchRef): Promise<number> {
  const steps = await queries.updateTable('steps').set((step) => ({
    held: step.ref('price'),
    status: 'planned',
    tries: 0,
    looks: 0,
    uncertain_at: null,
    ...firstOfList
  }))
    .where('dispatch_id', '=', dispatchId).where('company_id', '=', companyId).where('deferred_on', 'is', null).where('rest_of', 'is', null)
    .where('status', 'in', open).returning('price').execute()
  const price = steps.reduce((sum, step) => sum + step.price, 0)
  const { rows: [free] } = await sql<{ covered: boolean }>`select ${hasFreeCredits(companyId, price)} as covered`.execute(queries)
  if (free?.covered !== true) throw await insufficientCredits(queries, companyId, price)
  return price
}

/**
 * Cancels a queued dispatch of which no provider has accepted anything; `also` runs in the same transaction. Answers false for any other.
 */
export async function cancelDispatch (
  database: Database,
  { companyId, dispatchId, actor, also }: DispatchRef & { actor: EventActor, also: TransactionHook }
): Promise<boolean> {
  return database.company(companyId, async (queries) => {
    const given = { company_id: companyId, dispatch_id: dispatchId, actor }
    const { answer: cancelled } = await callFunctionWithin(queries, 'cancel_dispatch', given, database.now)
    if (cancelled) await also(await asOwner(queries))
    return cancelled
  })
}

/**
 * Moves a dispatch that waits for its time to another one; `also` runs in the same transaction. Answers false for any other, and for one
 * that has begun. Throws `budget_exceeded` where a hard budget does not cover it in the other month.
 */
export async function moveDispatch (
  database: Database,
  { companyId, dispatchId, actor, schedule, jobs, also }: DispatchRef & {
    actor: EventActor
    schedule: Schedule & { dueAt: string }
    jobs: PreparedJobs
    also: TransactionHook
  }
): Promise<boolean> {
  const { now } = database
  return withCreditCheck(database, { company_id: companyId, price: 0 }, () =>
    database.company(companyId, async (queries) => {
      const moved = await queries.updateTable('dispatches').set({
        schedule: JSON.stringify(schedule),
        next_try_at: new Date(schedule.dueAt)
      })
        .where('dispatch_id', '=', dispatchId).where('company_id', '=', companyId).where('status', '=', 'queued')
        .where('run_id', 'is', null).where(sql<boolean>`schedule->>'dueAt' is not null`)
        .where(sql<boolean>`not exists (select from steps where steps.dispatch_id = dispatches.dispatch_id
        and steps.company_id = dispatches.company_id and (tries > 0 or status not in ('planned', 'waiting')))`)
        .returning('dispatch_id').executeTakeFirst()
      if (moved === undefined) return false
      await note(queries, { companyId, dispatchId, kind: 'moved', actor, facts: { sendAt: schedule.dueAt }, now })
      await also(await asOwner(queries))
      await addJobs(queries, jobs)
      return true
    }))
}

/** Gives a lease back and lets the dispatch wait for its hours. Throws `conflict` where the run has lost it. */
export async function postponeDispatch (
  database: Database,
  { companyId, dispatchId, runId, schedule, jobs }: DispatchRef & {
    runId: string
    schedule: Schedule & { dueAt: string }
    jobs: PreparedJobs
  }
): Promise<void> {
  const { now } = database
  await database.company(companyId, async (queries) => {
    const postponed = await queries.updateTable('dispatches').set({
      status: 'queued',
      run_id: null,
      leased_until: null,
      detached: true,
      schedule: JSON.stringify(schedule),
      next_try_at: new Date(schedule.dueAt)
    }).where('dispatch_id', '=', dispatchId).where('company_id', '=', companyId).where('run_id', '=', runId)
      .returning('dispatch_id').executeTakeFirst()
    if (postponed === undefined) throw new DispatchError('conflict', 'Another run has the dispatch.', { dispatchId })
    await note(queries, { companyId, dispatchId, kind: 'moved', actor: { kind: 'system' }, facts: { sendAt: schedule.dueAt }, now })
    await addJobs(queries, jobs)
  })
}

/**
 * Dispatches whose lease has expired: its process has ended, or cannot reach the database. `held`: runs of this process, which are alive.
 */
export async function listExpiredLeases (
  { owner, now }: Database,
  { held, limit }: { held: readonly string[], limit: number }
): Promise<DispatchRef[]> {
  return owner.selectFrom('dispatches').select(['company_id as companyId', 'dispatch_id as dispatchId']).where('run_id', 'is not', null)
    .where('leased_until', '<', now)
    .where(sql<boolean>`run_id <> all(${held}::uuid[])`).limit(limit).execute()
}

/** What became of a lost dispatch: `queued`, `uncertain` (a provider may have accepted it), or `unchanged` (it was not running). */
export type Recovered = 'queued' | 'uncertain' | 'unchanged'

/**
 * Ends an expired lease. A step whose provider was being called is uncertain, because the provider may have accepted it; it is looked at
 * `lookAfter` seconds later, and `tell` reports it. Undefined where the lease has not expired.
 */
export async function recoverDispatch (
  database: Database,
  { companyId, dispatchId, error, lookAfter, jobs, tell }: DispatchRef & {
    error: StepError
    lookAfter: number
    jobs: PreparedJobs
    tell: TransactionHook
  }
): Promise<Recovered | undefined> {
  return database.company(companyId, async (queries) => {
    const given = { company_id: companyId, dispatch_id: dispatchId, error, look_after: lookAfter, jobs: [jobs] }
    const { answer: recovered } = await callFunctionWithin(queries, 'recover_dispatch', given, database.now)
    if (recovered === 'uncertain') await tell(await asOwner(queries))
    return recovered ?? undefined
  })
}

/**
 * Ends a run that learnt nothing about a step in doubt. After the last look the step waits for a person, and no credits are held any longer
 * for it and the steps after it. No step comes after a deferred one.
 */
export async function postponeReconciliation (
  database: Database,
  { companyId, dispatchId, stepId, runId, error, reconciliation }: DispatchRef & {
    stepId: string
    runId: string
    error: StepError
    reconciliation: ReconcileSchedule
  }
): Promise<void> {
  await callFunction(database, 'postpone_reconciliation', {
    company_id: companyId,
    dispatch_id: dispatchId,
    step_id: stepId,
    run_id: runId,
    error,
    look_after: reconciliation.after,
    look_last: reconciliation.last
  })
}

/** A step, its dispatch and its company. */
export type StepRef = DispatchRef & { stepId: string }

/** Steps in doubt whose next look is due. */
export async function listDueReconciliations ({ owner, now }: Database, limit: number): Promise<StepRef[]> {
  return owner.selectFrom('steps').select(['company_id as companyId', 'dispatch_id as dispatchId', 'step_id as stepId']).where(
    'next_look_at',
    '<=',
    now
  ).orderBy('next_look_at').limit(limit).execute()
}

/** Steps beside the path of their dispatch that are due. */
export async function listDueDeferred ({ owner, now }: Database, limit: number): Promise<StepRef[]> {
  return owner.selectFrom('steps').select(['company_id as companyId', 'dispatch_id as dispatchId', 'step_id as stepId']).where(
    'next_try_at',
    '<=',
    now
  ).orderBy('next_try_at').limit(limit).execute()
}

/** Queued dispatches that have been due for more than so many seconds: their jobs were lost. */
export async function listOverdueDispatches (
  { owner, now }: Database,
  { seconds, limit }: { seconds: number, limit: number }
): Promise<DispatchRef[]> {
  return owner.selectFrom('dispatches').select(['company_id as companyId', 'dispatch_id as dispatchId']).where('status', '=', 'queued')
    .where('next_try_at', '<', addSeconds(now, -seconds)).where(isLetGo).orderBy('next_try_at').limit(limit).execute()
}

/** The id of the API key with which a dispatch was asked for; undefined where a person asked. */
export async function keyOfRequest (database: Database, { companyId, dispatchId }: DispatchRef): Promise<string | undefined> {
  const row = await database.company(companyId,
    (queries) =>
      queries.selectFrom('events').select(sql<string | null>`actor->>'keyId'`.as('key')).where('company_id', '=', companyId)
        .where('dispatch_id', '=', dispatchId).where('kind', '=', 'planned').orderBy('event_id').limit(1).executeTakeFirst())
  return row?.key ?? undefined
}

/** Holds the price of one step, unless it is held already. Throws `insufficient_credits`. */
export async function holdStep (database: Database, { companyId, stepId, price }: StepRef & { price: number }): Promise<void> {
  const requested = { company_id: companyId, step_id: stepId, price }
  await withCreditCheck(database, requested, () => callFunction(database, 'hold_step', requested))
}

type Note = DispatchRef & { kind: EventKind, actor: EventActor, facts: JsonObject, now: SqlTimestamp }

/** Adds an entry to the timeline of a dispatch. */
async function note (queries: CompanyQueries, { companyId, dispatchId, kind, actor, facts, now }: Note): Promise<void> {
  await queries.insertInto('events').values({
    company_id: companyId,
    dispatch_id: dispatchId,
    kind,
    actor: JSON.stringify(actor),
    facts: JSON.stringify(facts),
    at: now
  }).execute()
}
