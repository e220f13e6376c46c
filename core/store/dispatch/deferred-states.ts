import type { DeferredState } from '@dispatch/contract'
import type { CompanyQueries } from '@dispatch/database'
import type { Tables } from '@dispatch/tables'
import { type RawBuilder, type Selectable, sql } from 'kysely'

/** The state of a deferred step; null for any other step. */
export function deferredStateOf ({ deferred_on: on, status, next_try_at: nextTry }: Pick<
  Selectable<Tables['steps']>,
  'deferred_on' | 'status' | 'next_try_at'
>): DeferredState | null {
  if (on === null) return null
  if (status === 'waiting' || status === 'skipped') return status
  if (status === 'accepted') return 'done'
  return status === 'rejected' || (status === 'unavailable' && nextTry === null) ? 'failed' : 'running'
}

const conditions: Readonly<Record<DeferredState, RawBuilder<unknown>>> = {
  waiting: sql`steps.status = 'waiting'`,
  running: sql`(steps.status in ('planned', 'calling', 'uncertain') or steps.status = 'unavailable' and steps.next_try_at is not null)`,
  done: sql`steps.status = 'accepted'`,
  failed: sql`(steps.status = 'rejected' or steps.status = 'unavailable' and steps.next_try_at is null)`,
  skipped: sql`steps.status = 'skipped'`
}

/** An SQL condition: a row of `steps` is a deferred step in this state, by the rules of {@link deferredStateOf}. */
export function isDeferred (state: DeferredState): RawBuilder<boolean> {
  return sql<boolean>`(steps.deferred_on is not null and ${conditions[state]})`
}

/** An SQL condition: a row of `dispatches` has a deferred step in this state. */
export function hasDeferred (state: DeferredState): RawBuilder<boolean> {
  return sql<
    boolean
  >`exists (select from steps where steps.dispatch_id = dispatches.dispatch_id and steps.company_id = dispatches.company_id
    and ${isDeferred(state)})`
}

/** An SQL condition: no step was accepted of the service whose event a row of `steps` waits for. */
export const lacksAcceptedSource =
  sql`not exists (select from steps as source where source.dispatch_id = steps.dispatch_id and source.company_id = steps.company_id
  and source.deferred_on is null and source.rest_of is null and source.service = split_part(steps.deferred_on, '.', 1)
    and source.status = 'accepted')`

/** Sets skipped steps back to waiting where nothing was accepted that could cause their events: the dispatch continues. */
export async function unskipDeferred (
  queries: CompanyQueries,
  { companyId, dispatchId }: { companyId: number, dispatchId: string }
): Promise<void> {
  await sql`update steps set status = 'waiting', error = null where dispatch_id = ${dispatchId} and company_id = ${companyId}
    and status = 'skipped' and ${lacksAcceptedSource}`.execute(queries)
}
