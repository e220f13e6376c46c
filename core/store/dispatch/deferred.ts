import type { EventKind } from '@dispatch/contract'
import type { CompanyQueries, OwnerQueries, SqlTimestamp } from '@dispatch/database'
import type { EventActor, StepError } from '@dispatch/tables'
import { type RawBuilder, sql } from 'kysely'
import { deferredStateOf, isDeferred, lacksAcceptedSource } from './deferred-states.ts'
import type { DispatchRecord, StepRecord } from './dispatch-views.ts'
import { firstOfList } from './first-of-list.ts'
import { type DispatchRef, replacedColumns, type Replacement } from './runs.ts'

/** The failed deferred steps of a dispatch. */
export function failedDeferred ({ steps }: DispatchRecord): StepRecord[] {
  return steps.filter((step) => deferredStateOf(step) === 'failed')
}

/** Makes the steps due that wait for an event, also those that were skipped because it seemed impossible. Answers their ids. */
export async function wakeDeferred (
  queries: OwnerQueries,
  { companyId, dispatchId, on }: DispatchRef & { on: string },
  now: SqlTimestamp
): Promise<string[]> {
  const rows = await queries.updateTable('steps').set({ status: 'planned', next_try_at: now, error: null }).where('dispatch_id', '=',
    dispatchId).where('company_id', '=', companyId)
    .where('deferred_on', '=', on).where('status', 'in', ['waiting', 'skipped']).returning('step_id').execute()
  return rows.map((row) => row.step_id)
}

/** Skips the steps of a dispatch that wait for one of these events; `why` ends the sentence about the event. */
export async function skipUnexpected (
  queries: OwnerQueries,
  of: DispatchRef,
  { events, why }: { events: readonly string[], why: string },
  now: SqlTimestamp
): Promise<void> {
  if (events.length > 0) await skip(queries, of, { condition: sql`deferred_on = any (${events})`, why }, now)
}

/** Skips the waiting steps of a dispatch that has ended, where nothing was accepted that could cause their events. */
export async function skipWithoutAcceptedSource (queries: OwnerQueries, of: DispatchRef, now: SqlTimestamp): Promise<void> {
  await skip(queries, of, {
    condition: lacksAcceptedSource,
    why: 'cannot come: the dispatch has ended before anything was accepted that it could be about.'
  }, now)
}

async function skip (
  queries: OwnerQueries,
  { companyId, dispatchId }: DispatchRef,
  { condition, why }: { condition: RawBuilder<unknown>, why: string },
  now: SqlTimestamp
): Promise<void> {
  const word: StepError['word'] = 'conflict'
  await sql`
    with skipped as (
      update steps set status = 'skipped', error = jsonb_build_object('word', ${word}::text, 'message', 'The event "' || deferred_on || '" '
        || ${why})
      where dispatch_id = ${dispatchId} and company_id = ${companyId} and status = 'waiting' and ${condition}
        returning step_id, deferred_on, error->>'message' as message
    )
    insert into events (company_id, dispatch_id, step_id, kind, actor, facts, at)
    select ${companyId}, ${dispatchId}, step_id, ${'skipped' satisfies EventKind}, '{"kind":"system"}', jsonb_build_object('on',
      deferred_on, 'message', message), ${now} from skipped`.execute(queries)
}

/**
 * Makes the failed deferred steps of a dispatch due again, one of them with other fields. Answers their ids. Their prices are held later.
 */
export async function retryDeferred (
  queries: CompanyQueries,
  { companyId, dispatchId, actor, replacement }: DispatchRef & { actor: EventActor, replacement?: Replacement },
  now: SqlTimestamp
): Promise<string[]> {
  if (replacement !== undefined) {
    await queries.updateTable('steps').set(await replacedColumns(queries, companyId, replacement)).where('step_id', '=', replacement.stepId)
      .where('company_id', '=', companyId).where('dispatch_id', '=', dispatchId).where(isDeferred('failed')).execute()
  }
  const { rows } = await sql<{ stepId: string }>`
    with readied as (
      update steps set status = 'planned', tries = 0, looks = 0, uncertain_at = null, next_try_at = ${now},
        provider_code = ${firstOfList.provider_code}, provider_version = ${firstOfList.provider_version},
        configured_by = ${firstOfList.configured_by}
      where dispatch_id = ${dispatchId} and company_id = ${companyId} and ${isDeferred('failed')} returning step_id, deferred_on
    ), event as (
      insert into events (company_id, dispatch_id, step_id, kind, actor, facts, at)
      select ${companyId}, ${dispatchId}, step_id, ${'resumed' satisfies EventKind}, ${JSON.stringify(actor)}, jsonb_build_object('on',
        deferred_on), ${now} from readied
    )
    select step_id as "stepId" from readied`.execute(queries)
  return rows.map(({ stepId }) => stepId)
}
