import type { OwnerQueries, SqlTimestamp } from '@dispatch/database'
import { type RawBuilder, sql } from 'kysely'
import { type CallbackBody, callbackBody, type NotifiedEvent } from './event-bodies.ts'
import { noteFeedEvent } from './event-feeds.ts'

/** An event to record. `due`: it is sent from this time on. `dispatchId` null: it is about the company. */
export type NewEvent = Omit<NotifiedEvent, 'sequence'> & {
  companyId: number
  dispatchId: string | null
  due: SqlTimestamp
  newId: () => string
}

/** An event to record at an address. `sequence`: the next one of the dispatch unless given. */
export type NewCallback = NewEvent & { dispatchId: string, url: string, sequence?: number }

/**
 * Records a callback to an address, in the transaction that records the event: both are recorded or none. The callbacks of a dispatch are
 * numbered without gaps, in the order in which their events were committed. Answers the id.
 */
export async function noteCallback (queries: OwnerQueries, callback: NewCallback): Promise<string> {
  const sequence = callback.sequence ?? await nextSequence(queries, callback)
  return insertCallback(queries, { ...callback, sequence })
}

/** The number of the next event of a dispatch that is told. */
export async function nextSequence (
  queries: OwnerQueries,
  { companyId, dispatchId }: Pick<NewCallback, 'companyId' | 'dispatchId'>
): Promise<number> {
  const { callback_sequence: sequence } = await queries.updateTable('dispatches').set((row) => ({
    callback_sequence: sql`${row.ref('callback_sequence')} + 1`
  }))
    .where('company_id', '=', companyId).where('dispatch_id', '=', dispatchId).returning('callback_sequence').executeTakeFirstOrThrow()
  return sequence
}

/** An event with its number and the address that is told of it. */
type Numbered = NewEvent & { sequence: number, url: string }

/** Records a callback to an address under a number that is known. Answers the id. */
export async function insertCallback (queries: OwnerQueries, callback: Numbered): Promise<string> {
  const row = callbackRow(callback, await callbackBody(queries, callback))
  await queries.insertInto('outbox').values(row).execute()
  return row.callback_id
}

/** The row of a callback to an address. */
export function callbackRow ({ companyId, dispatchId, type, url, now, due, newId, sequence }: Omit<Numbered, 'data'>, body: CallbackBody) {
  return {
    callback_id: newId(),
    company_id: companyId,
    dispatch_id: dispatchId,
    type,
    sequence,
    url,
    receiver: new URL(url).host,
    body: body.of(sequence),
    state: 'pending' as const,
    next_at: due,
    created_at: now
  }
}

/**
 * Records a callback for each of these endpoints that is still enabled, in the transaction that records the event. Those of a dispatch are
 * numbered without gaps for each endpoint, in the order in which their events were committed. Answers their ids.
 */
export async function noteEndpointCallbacks (
  queries: OwnerQueries,
  endpointIds: readonly string[],
  event: NewEvent & { dispatchId: string }
): Promise<string[]> {
  const { companyId, dispatchId } = event
  // The lock puts the events of a dispatch in a row, so that each counts those before it.
  await sql`select from dispatches where company_id = ${companyId} and dispatch_id = ${dispatchId} for no key update`.execute(queries)
  const sequence = sql<number>`(select coalesce(max(sequence), 0) + 1 from outbox as earlier
    where earlier.endpoint_id = endpoint.endpoint_id and earlier.endpoint_id is not null and earlier.dispatch_id = ${dispatchId})`
  const { rows } = await insertFor(endpointIds, { ...event, sequence }, await callbackBody(queries, event), sql`true`).execute(queries)
  return rows.map(({ callbackId }) => callbackId)
}

/**
 * Records a callback about the company itself for each of its endpoints that wants it, and adds the event to the company's feed, in the
 * transaction that records the event. Answers its number among those of the company.
 */
export async function noteCompanyEvent (
  queries: OwnerQueries,
  { companyId, type, ...event }: Omit<NewEvent, 'dispatchId'>
): Promise<{ sequence: number, callbackIds: string[] }> {
  const { warnings: sequence } = await queries.updateTable('credits').set((row) => ({ warnings: sql`${row.ref('warnings')} + 1` }))
    .where('company_id', '=', companyId).returning('warnings').executeTakeFirstOrThrow()
  const endpoints = await queries.selectFrom('callback_endpoints').select('endpoint_id').where('company_id', '=', companyId)
    .where('enabled', '=', true).where('removed_at', 'is', null)
    .where((where) => where.or([where('types', 'is', null), sql<boolean>`${type} = any (types)`])).execute()
  const statement = insertFor(endpoints.map((row) => row.endpoint_id), {
    ...event,
    companyId,
    type,
    dispatchId: null,
    sequence: sql<number>`${sequence}::integer`
  }, await callbackBody(queries, { ...event, companyId, type }), sql`true`)
  const { rows } = await statement.execute(queries)
  await noteFeedEvent(queries, { ...event, companyId, type, sequence })
  return { sequence, callbackIds: rows.map(({ callbackId }) => callbackId) }
}

/** A statement that inserts a callback for each of these endpoints, where `condition` holds. An endpoint cannot be disabled meanwhile. */
export function insertFor (
  endpointIds: readonly string[],
  { companyId, dispatchId, type, now, due, newId, sequence }: Omit<NewEvent, 'data'> & { sequence: RawBuilder<number> },
  { head, tail }: CallbackBody,
  condition: RawBuilder<unknown>
): RawBuilder<{ callbackId: string }> {
  return sql<{ callbackId: string }>`
    insert into outbox (callback_id, company_id, endpoint_id, dispatch_id, type, sequence, receiver, body, state, next_at, created_at)
    select callback_id, ${companyId}, endpoint_id, ${dispatchId}, ${type}, sequence, receiver, ${head}::text || sequence || ${tail}::text,
      'pending', greatest(${due}, paused_until), ${now}
    from (
      select given.callback_id, endpoint.endpoint_id, ${sequence} as sequence,
        ${hostOf('endpoint.url')} as receiver, paused_until
      from callback_endpoints as endpoint
        join unnest(${endpointIds}::uuid[], ${endpointIds.map(newId)}::uuid[]) as given (endpoint_id, callback_id) using (endpoint_id)
      where endpoint.company_id = ${companyId} and endpoint.enabled and endpoint.removed_at is null and ${condition}
      order by endpoint.endpoint_id for share of endpoint
    ) as fresh
    returning callback_id as "callbackId"`
}

/** The host of an https URL, with its port. */
export function hostOf (column: string): RawBuilder<string> {
  return sql<string>`substring(${sql.ref(column)} from '^https://([^/?#]*)')`
}
