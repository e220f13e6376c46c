import type { JsonObject } from '@dispatch/common'
import { sql } from 'kysely'
import { DispatchError } from '../../contract/errors.ts'
import type { DispatchStatus, EventKind } from '../../contract/states.ts'
import { asOwner, type CompanyQueries, type Database, type OwnerQueries } from '../db/database.ts'
import { addJobs, type PreparedJobs } from '../db/jobs.ts'
import type { EventActor, StepError } from '../db/schema.ts'
import { addSeconds, type SqlTimestamp } from '../db/sql-timestamp.ts'
import { unskipDeferred } from './deferred-states.ts'
import { type DispatchRecord, readDispatch } from './dispatch-views.ts'
import { hasFreeCredits, insufficientCredits, withCreditCheck } from './dispatches.ts'
import { type DispatchStart, type Lease, nextReconcileAt, type ReconcileSchedule, type TransactionHook } from './lease.ts'

/** A dispatch, by whose it is. */
export type DispatchRef = { companyId: number, dispatchId: string }

/**
 * Takes the lease of a dispatch that nobody has, if it is in one of the states; one that has run out is for
 * `recoverDispatch` to end, which knows what its process may have left under way. `becomes`: what it is from then on.
 * `ended`: a run that is known to have ended, and whose lease may still stand there. Answers the dispatch as it is then;
 * undefined when it is not to be had.
 */
export async function acquireLease (
  database: Database,
  { companyId, dispatchId }: DispatchRef,
  { lease, from, becomes, ended }: { lease: Lease, from: readonly DispatchStatus[], becomes?: 'running', ended?: string }
): Promise<DispatchRecord | undefined> {
  return database.company(companyId, async (queries) => {
    // Nothing waits for the disk: a lease that a crash of the database takes back has done nothing yet, as whatever is done under it is
    // committed after it.
    const { rows } = await sql`
      with unhurried as (select set_config('synchronous_commit', 'off', true))
      update dispatches set run_id = ${lease.runId}, leased_until = ${addSeconds(database.now, lease.seconds)}, status =
        coalesce(${becomes ?? null}, status),
        next_try_at = case when ${becomes ?? null}::text is null then next_try_at end, finished_at = case
          when ${becomes ?? null}::text is null then finished_at end
      from unhurried where dispatch_id = ${dispatchId} and company_id = ${companyId} and status = any(${from}) and (run_id is null
        or run_id = ${ended ?? null}) returning 1`.execute(queries)
    return rows.length === 0 ? undefined : readDispatch(queries, companyId, dispatchId)
  })
}

/** Prolongs leases by so many seconds from now on; answers which. Those that are gone stay gone. */
export async function renewLeases ({ vital, now }: Database, runIds: readonly string[], seconds: number): Promise<string[]> {
  if (runIds.length === 0) return []
  // What somebody else has locked keeps no other from its renewal.
  const free = vital.selectFrom('dispatches').select('dispatch_id').where('run_id', 'in', runIds).forNoKeyUpdate().skipLocked()
  const renewed = await vital.updateTable('dispatches').set({ leased_until: addSeconds(now, seconds) }).where('dispatch_id', 'in', free)
    .returning('run_id').execute()
  return renewed.flatMap(({ run_id: runId }) => runId ?? [])
}

/** Tells of a dispatch that has ended, in the transaction that notes it. */
export type NotifyEnd = (queries: OwnerQueries, status: DispatchStatus) => Promise<void>

/** Notes that no client waits for the end of a run any more. Where it has ended in this moment, untold, it is told now. */
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
 * Gives a lease back and changes nothing else. Where something is still under way it is left to run out, so that `recoverDispatch` ends it.
 */
export async function releaseLease (database: Database, { companyId, dispatchId }: DispatchRef, runId: string): Promise<void> {
  await database.company(companyId, (queries) =>
    queries.updateTable('dispatches').set({ run_id: null, leased_until: null })
      .where('dispatch_id', '=', dispatchId).where('company_id', '=', companyId).where('run_id', '=', runId).where('status', '<>',
        'running')
      .where(
        sql<boolean>`not exists (select from steps where dispatch_id = ${dispatchId} and company_id = ${companyId} and status = 'calling')`
      ).execute())
}

/** The states of a step that a retry may begin. */
const open = ['planned', 'unavailable', 'rejected'] as const

/** What a retry changes of the step that failed. */
export type Replacement = { stepId: string, fields: JsonObject, requestSettings: JsonObject }

/**
 * Takes up a dispatch that ended before all was done: what is left is held again, and it runs or waits for its job. Answers
 * false when it is in no such state, or another run has just taken it. Throws `insufficient_credits`, and `conflict` when the
 * step that is to be replaced has been done meanwhile. `also` is done in the same transaction.
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
  const asked = { companyId, price: 0 }
  return withCreditCheck(database, asked, async (queries) => {
    const taken = await queries.updateTable('dispatches')
      .set({
        status: lease === undefined ? 'queued' : 'running',
        finished_at: null,
        run_id: lease?.runId ?? null,
        leased_until: lease === undefined ? null : addSeconds(now, lease.seconds),
        next_try_at: lease === undefined ? now : null,
        ...(lease === undefined ? { detached: true } : {})
      })
      .where('dispatch_id', '=', dispatchId).where('company_id', '=', companyId).where('status', 'in', ['failed', 'partial']).where(
        'run_id',
        'is',
        null
      ).where('data', 'is not', null)
      .returning('dispatch_id').executeTakeFirst()
    if (taken === undefined) return false
    if (replacement !== undefined) {
      const replaced = await queries.updateTable('steps').set({
        fields: JSON.stringify(replacement.fields),
        request_settings: JSON.stringify(replacement.requestSettings)
      })
        .where('step_id', '=', replacement.stepId).where('company_id', '=', companyId).where('status', 'in', open).returning('step_id')
        .executeTakeFirst()
      if (replaced === undefined) {
        throw new DispatchError('conflict', 'The step that was to be put right has been done meanwhile: read what became of it.', {
          dispatchId
        })
      }
    }
    const price = asked.price = await holdAgain(queries, { companyId, dispatchId })
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
  })
}

/** Holds the price of the steps that are left, and readies them. */
async function holdAgain (queries: CompanyQueries, { companyId, dispatchId }: DispatchRef): Promise<number> {
  const steps = await queries.updateTable('steps').set((step) => ({
    held: step.ref('price'),
    status: 'planned',
    tries: 0,
    looks: 0,
    uncertain_at: null
  }))
    .where('dispatch_id', '=', dispatchId).where('company_id', '=', companyId).where('deferred_on', 'is', null).where('rest_of', 'is', null)
    .where('status', 'in', open).returning('price').execute()
  const price = steps.reduce((sum, step) => sum + step.price, 0)
  const { rows: [free] } = await sql<{ covered: boolean }>`select ${hasFreeCredits(companyId, price)} as covered`.execute(queries)
  if (free?.covered !== true) throw await insufficientCredits(queries, companyId, price)
  return price
}

/** Ends a dispatch that waits and of which no provider has accepted anything. Answers false when it is no such dispatch. */
export async function cancelDispatch (
  database: Database,
  { companyId, dispatchId, actor, also }: DispatchRef & { actor: EventActor, also?: TransactionHook }
): Promise<boolean> {
  const { now } = database
  return database.company(companyId, async (queries) => {
    const { rows } = await sql`
      with dispatch as (
        update dispatches set status = 'cancelled', finished_at = ${now}, next_try_at = null
        where dispatch_id = ${dispatchId} and company_id = ${companyId} and status = 'queued' and run_id is null
          and not exists (select from steps where steps.dispatch_id = ${dispatchId} and steps.company_id = ${companyId}
            and provider_code is not null and status in ('accepted', 'calling', 'uncertain')) returning dispatch_id
      ), before as (
        select step_id, held from steps, dispatch where steps.dispatch_id = dispatch.dispatch_id and company_id = ${companyId} and held > 0
          for update of steps
      ), step as (
        update steps set held = 0 from before where steps.step_id = before.step_id and company_id = ${companyId}
      ), event as (
        insert into events (company_id, dispatch_id, kind, actor, facts, at)
          select ${companyId}, dispatch_id, ${'cancelled' satisfies EventKind}, ${JSON.stringify(actor)}, '{}', ${now} from dispatch
      )
      select 1 from dispatch`.execute(queries)
    if (rows.length > 0 && also !== undefined) await also(await asOwner(queries))
    return rows.length > 0
  })
}

/**
 * Dispatches whose lease has run out: the process that had it is gone, or cannot reach the database. `held`: runs that are known to be
 * alive.
 */
export async function listExpiredLeases (
  { owner, now }: Database,
  { held, limit }: { held: readonly string[], limit: number }
): Promise<DispatchRef[]> {
  return owner.selectFrom('dispatches').select(['company_id as companyId', 'dispatch_id as dispatchId']).where('run_id', 'is not', null)
    .where('leased_until', '<', now)
    .where(sql<boolean>`run_id <> all(${held}::uuid[])`).limit(limit).execute()
}

/** What became of a lost dispatch: `queued` goes on by its job; what a provider may have accepted is looked at first. */
export type Recovered = 'queued' | 'uncertain' | 'unchanged'

/**
 * Takes a lost lease away. A provider that was being called may have accepted: its step is uncertain, and looked at so many
 * seconds later, and who has to know is told. Undefined when the lease is not lost any more.
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
  const { now } = database
  return database.company(companyId, async (queries) => {
    const lost = await queries.selectFrom('dispatches').select(['status', 'leased_until']).where('dispatch_id', '=', dispatchId).where(
      'company_id',
      '=',
      companyId
    )
      .where('run_id', 'is not', null).where('leased_until', '<', now).forUpdate().executeTakeFirst()
    if (lost === undefined) return undefined
    const doubtful = await doubt(queries, {
      companyId,
      dispatchId,
      error,
      nextLookAt: addSeconds(now, lookAfter),
      since: lost.leased_until
    })
    const status = lost.status !== 'running' ? lost.status : doubtful ? 'uncertain' : 'queued'
    await queries.updateTable('dispatches')
      .set({
        run_id: null,
        leased_until: null,
        status,
        ...(lost.status === 'running' ? { detached: true, finished_at: doubtful ? now : null, next_try_at: doubtful ? null : now } : {})
      })
      .where('dispatch_id', '=', dispatchId).where('company_id', '=', companyId).execute()
    await note(queries, { companyId, dispatchId, kind: 'recovered', actor: { kind: 'system' }, facts: { status }, now })
    if (lost.status !== 'running') return 'unchanged'
    await (doubtful ? tell(await asOwner(queries)) : addJobs(queries, jobs))
    return doubtful ? 'uncertain' : 'queued'
  })
}

/**
 * Calls that were under way may have been answered; what is done here was not. In doubt `since` the process was surely gone. Answers
 * whether a step of the path is in doubt.
 */
async function doubt (
  queries: CompanyQueries,
  { companyId, dispatchId, error, nextLookAt, since }: DispatchRef & { error: StepError, nextLookAt: SqlTimestamp, since: Date | null }
): Promise<boolean> {
  const calling = queries.updateTable('steps').where('dispatch_id', '=', dispatchId).where('company_id', '=', companyId).where('status',
    '=', 'calling')
  await calling.where('provider_code', 'is', null).set({ status: 'planned' }).execute()
  const steps = await calling.set((step) => ({
    status: 'uncertain',
    error: JSON.stringify(error),
    uncertain_at: step.fn.coalesce('uncertain_at', step.val(since)),
    next_look_at: nextLookAt
  })).returning(['step_id', 'deferred_on', 'rest_of']).execute()
  for (const { step_id: stepId } of steps) {
    await queries.updateTable('attempts').set({ answered_at: since, outcome: 'uncertain', error: JSON.stringify(error) }).where('step_id',
      '=', stepId).where('company_id', '=', companyId).where('answered_at', 'is', null).execute()
  }
  return steps.some((step) => step.deferred_on === null && step.rest_of === null)
}

/**
 * Ends a run that learnt nothing about a step in doubt. Once its time is over it waits for a person, and nothing is held for it and what
 * would follow it any longer; nothing follows one that is deferred.
 */
export async function postponeReconciliation (
  database: Database,
  { companyId, dispatchId, stepId, runId, error, look }: DispatchRef & {
    stepId: string
    runId: string
    error: StepError
    look: ReconcileSchedule
  }
): Promise<void> {
  const { now } = database
  const isOver = sql`(select next is null from looked)`
  await database.company(companyId, async (queries) => {
    await sql`
      with run as (
        update dispatches set run_id = null, leased_until = null where dispatch_id = ${dispatchId} and company_id = ${companyId}
          and run_id = ${runId} returning 1
      ), looked as (
        select ${nextReconcileAt(now, sql<Date>`coalesce(uncertain_at, ${now})`, look)} as next from steps where step_id = ${stepId}
          and company_id = ${companyId}
      ), before as (
        select steps.step_id, held from steps, run where dispatch_id = ${dispatchId} and company_id = ${companyId}
          and (steps.step_id = ${stepId} and status in ('uncertain', 'calling')
            or ${isOver} and held > 0 and deferred_on is null and exists (select from steps as doubtful where doubtful.step_id = ${stepId}
              and doubtful.company_id = ${companyId} and doubtful.deferred_on is null))
        for update of steps
      ), step as (
        update steps set status = 'uncertain', looks = looks + 1, error = coalesce(error, ${JSON.stringify(error)}), next_look_at = (select
          next from looked), held = case when ${isOver} then 0 else steps.held end
        from before where steps.step_id = before.step_id and steps.step_id = ${stepId} and company_id = ${companyId}
      ), released as (
        update steps set held = 0 from before where ${isOver} and steps.step_id = before.step_id and steps.step_id <> ${stepId}
          and company_id = ${companyId}
      )
      update attempts set answered_at = ${now}, outcome = 'uncertain' from before where attempts.step_id = ${stepId}
        and before.step_id = ${stepId} and company_id = ${companyId} and answered_at is null`.execute(queries)
  })
}

/** A step, by whose it is. */
export type StepRef = DispatchRef & { stepId: string }

/** Steps in doubt that are to be looked at now. */
export async function listDueReconciliations ({ owner, now }: Database, limit: number): Promise<StepRef[]> {
  return owner.selectFrom('steps').select(['company_id as companyId', 'dispatch_id as dispatchId', 'step_id as stepId']).where(
    'next_look_at',
    '<=',
    now
  ).orderBy('next_look_at').limit(limit).execute()
}

/** Deferred steps whose event has come, and that are to be done now. */
export async function listDueDeferred ({ owner, now }: Database, limit: number): Promise<StepRef[]> {
  return owner.selectFrom('steps').select(['company_id as companyId', 'dispatch_id as dispatchId', 'step_id as stepId']).where(
    'next_try_at',
    '<=',
    now
  ).orderBy('next_try_at').limit(limit).execute()
}

/** Dispatches that should have been taken up so many seconds ago. */
export async function listOverdueDispatches (
  { owner, now }: Database,
  { seconds, limit }: { seconds: number, limit: number }
): Promise<DispatchRef[]> {
  return owner.selectFrom('dispatches').select(['company_id as companyId', 'dispatch_id as dispatchId']).where('status', '=', 'queued')
    .where('next_try_at', '<', addSeconds(now, -seconds)).orderBy('next_try_at').limit(limit).execute()
}

/** Holds the price of one step, unless it is held already. Throws `insufficient_credits`. */
export async function holdStep (database: Database, { companyId, stepId, price }: StepRef & { price: number }): Promise<void> {
  await withCreditCheck(database, { companyId, price }, (queries) =>
    queries.updateTable('steps').set({ held: price })
      .where('step_id', '=', stepId).where('company_id', '=', companyId).where('held', '=', 0).execute())
}

type Note = DispatchRef & { kind: EventKind, actor: EventActor, facts: JsonObject, now: SqlTimestamp }

/** Adds an entry to a timeline. */
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
