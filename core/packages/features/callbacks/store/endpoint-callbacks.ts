import type { AuditStamp } from '@dispatch/accounts'
import type { JsonObject } from '@dispatch/common'
import type { CallbackState, CallbackType, EndpointType } from '@dispatch/contract'
import { addSeconds, asOwner, type CompanyQueries, type Database, type OwnerQueries, type SqlTimestamp } from '@dispatch/database'
import { type RawBuilder, type Selectable, sql } from 'kysely'
import { type AttemptEnd, type AttemptRef, type CallbackAttemptRow, type CallbackBody, callbackBody, type CallbackTables,
  type ClaimedCallback, type ClaimLimits, makeDue, recordAttempt } from './callbacks.ts'
import { type EndpointRef, note, stopWaiting } from './endpoints.ts'
import { noteFeedEvent } from './event-feeds.ts'
import { columns, columnsOf, type EndpointSecret, type Tables } from './tables.ts'

/** The callbacks to endpoints. */
export const ofEndpoints: CallbackTables = { callbacks: 'endpoint_callbacks', attempts: 'endpoint_attempts' }

/** An event that endpoints are told of. `data`: as in their callbacks. `dispatchId` null: it is about the company. */
export type EndpointEvent = {
  companyId: number
  dispatchId: string | null
  type: CallbackType
  data: JsonObject
  now: Date
  due: SqlTimestamp
  newId: () => string
}

/**
 * Records a callback for each of these endpoints that is still enabled, in the transaction that records the event. Those of a dispatch are
 * numbered without gaps for each endpoint, in the order in which their events were committed. Answers their ids.
 */
export async function noteEndpointCallbacks (
  queries: OwnerQueries,
  endpointIds: readonly string[],
  event: EndpointEvent & { dispatchId: string }
): Promise<string[]> {
  const { companyId, dispatchId } = event
  // The lock puts the events of a dispatch in a row, so that each counts those before it.
  await sql`select from dispatches where company_id = ${companyId} and dispatch_id = ${dispatchId} for no key update`.execute(queries)
  const sequence = sql<number>`(select coalesce(max(sequence), 0) + 1 from endpoint_callbacks as earlier
    where earlier.endpoint_id = endpoint.endpoint_id and earlier.dispatch_id = ${dispatchId})`
  const { rows } = await insertFor(endpointIds, { ...event, sequence }, await callbackBody(queries, event), sql`true`).execute(queries)
  return rows.map(({ callbackId }) => callbackId)
}

/**
 * Records a callback about the company itself for each of its endpoints that wants it, and adds the event to the company's feed, in the
 * transaction that records the event. Answers its number among those of the company.
 */
export async function noteCompanyEvent (
  queries: OwnerQueries,
  { companyId, type, ...event }: Omit<EndpointEvent, 'dispatchId'>
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
  { companyId, dispatchId, type, now, due, newId, sequence }: Omit<EndpointEvent, 'data'> & { sequence: RawBuilder<number> },
  { head, tail }: CallbackBody,
  condition: RawBuilder<unknown>
): RawBuilder<{ callbackId: string }> {
  return sql<{ callbackId: string }>`
    insert into endpoint_callbacks (callback_id, company_id, endpoint_id, dispatch_id, type, sequence, receiver, body, state, next_at,
      created_at)
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
function hostOf (column: string): RawBuilder<string> {
  return sql<string>`substring(${sql.ref(column)} from '^https://([^/?#]*)')`
}

/** A callback to an endpoint that this process sends now. */
export type ClaimedEndpointCallback = ClaimedCallback & { endpointId: string, secrets: readonly EndpointSecret[] }

/**
 * Claims the callback of the company's endpoints that has been due longest and whose endpoint is not busy, and records the attempt. An
 * endpoint that fails has one request at a time, and all of them together have half of the company's: the others go on beside them.
 */
export async function claimEndpointCallback (
  database: Database,
  companyId: number,
  { seconds, perCompany, perReceiver }: ClaimLimits
): Promise<ClaimedEndpointCallback | undefined> {
  const { now } = database
  return database.company(companyId, async (queries) => {
    await sql`select pg_advisory_xact_lock(hashtextextended('endpoint claim', ${companyId}))`.execute(queries)
    const { rows: [claimed] } = await sql<ClaimedEndpointCallback>`
      with busy as (
        select endpoint_id, count(*) as requests, bool_or(failing_since is not null) as failing
        from endpoint_attempts join endpoint_callbacks using (callback_id) join callback_endpoints using (endpoint_id)
        where endpoint_attempts.company_id = ${companyId} and outcome is null and at > ${addSeconds(now, -seconds)} group by endpoint_id
      ), due as (
        select callback_id, url, secrets from endpoint_callbacks as callback
          join callback_endpoints as endpoint using (endpoint_id) left join busy using (endpoint_id)
        where callback.company_id = ${companyId} and state = 'pending' and next_at <= ${now}
          and (select coalesce(sum(requests), 0) from busy) < ${perCompany}
          and coalesce(busy.requests, 0) < case when failing_since is null then ${perReceiver} else 1 end
          and (failing_since is null or (select coalesce(sum(requests), 0) from busy where failing) < ${perCompany} / 2)
        order by next_at, callback_id limit 1 for update of callback skip locked
      ), claimed as (
        update endpoint_callbacks set next_at = ${addSeconds(now, seconds)}, attempts = attempts + 1, tries = tries + 1,
          receiver = ${hostOf('due.url')} from due where endpoint_callbacks.callback_id = due.callback_id returning ${
      columnsOf('endpoint_callbacks')
    }, url, secrets
      ), attempt as (
        insert into endpoint_attempts (callback_id, number, company_id, at) select callback_id, attempts, company_id, ${now} from claimed
      )
      select callback_id as "callbackId", company_id as "companyId", dispatch_id as "dispatchId", endpoint_id as "endpointId", url, secrets,
        body, attempts as number, tries,
        (select traceparent from steps where steps.dispatch_id = claimed.dispatch_id and position = 0) as traceparent
        from claimed`.execute(queries)
    return claimed
  })
}

/**
 * After how many days of failure a company is told, and after how many more since then an endpoint is disabled: with the next attempt that
 * fails. plugins/guides/client.md and the OpenAPI document tell them too.
 */
export const failingFor = { told: 2, disabled: 5, between: 1 } as const

/** An endpoint of which a company is told, and what. */
export type FailingEndpoint = { type: EndpointType, endpointId: string, name: string, failingSince: Date }

/**
 * Records the outcome of an attempt, and whether the endpoint fails. `tell` tells the company of one that has failed for days, in the same
 * transaction: that it does, and then that it is disabled.
 */
export async function settleEndpointCallback (
  database: Database,
  attempt: AttemptRef & { endpointId: string },
  end: AttemptEnd,
  tell: (queries: OwnerQueries, failing: FailingEndpoint) => Promise<void>
): Promise<void> {
  const { companyId, endpointId } = attempt
  const delivered = end.outcome === 'delivered'
  await database.company(companyId, async (queries) => {
    const isDue = !delivered && await isToBeTold(database, queries, { companyId, endpointId })
    // Before any endpoint, as whoever tells a company of something does.
    if (isDue) await sql`select from credits where company_id = ${companyId} for update`.execute(queries)
    // Then the endpoint, as whoever disables it locks it before its callbacks.
    await sql`update callback_endpoints set failing_since = ${delivered ? null : database.now}, warned_at = null
      where company_id = ${companyId} and endpoint_id = ${endpointId} and (failing_since is null) = ${!delivered}`.execute(queries)
    const failing = isDue ? await noteFailing(database, queries, { companyId, endpointId }) : undefined
    await recordAttempt(queries, ofEndpoints, attempt, { ...end, now: database.now })
    if (end.state === 'pending') {
      await sql`update endpoint_callbacks as callback set next_at = paused_until from callback_endpoints as endpoint
        where callback.company_id = ${companyId} and callback_id = ${attempt.callbackId} and state = 'pending'
          and endpoint.endpoint_id = ${endpointId} and next_at < paused_until`.execute(queries)
    }
    if (failing?.type === 'company.endpoint_disabled') await stopWaiting(queries, { company_id: companyId, endpoint_id: endpointId })
    if (failing !== undefined) await tell(await asOwner(queries), failing)
  })
}

/** An endpoint that has failed for days, of which its company is not told yet. */
const isOverdue = ({ now }: Database): RawBuilder<boolean> =>
  sql<boolean>`enabled and removed_at is null and (
      warned_at is null and failing_since <= ${now} - ${days(failingFor.told)}
      or warned_at <= ${now} - ${days(failingFor.between)} and failing_since <= ${now} - ${days(failingFor.disabled)})`
const days = (count: number): RawBuilder<unknown> => sql`make_interval(days => ${count})`

async function isToBeTold (database: Database, queries: CompanyQueries, { companyId, endpointId }: EndpointRef): Promise<boolean> {
  const { rows } = await sql`select from callback_endpoints where company_id = ${companyId} and endpoint_id = ${endpointId}
    and ${isOverdue(database)}`.execute(queries)
  return rows.length > 0
}

/** Notes of an endpoint that has failed for days that its company is told, or disables it. Undefined where nothing is to be told. */
async function noteFailing (
  database: Database,
  queries: CompanyQueries,
  { companyId, endpointId }: EndpointRef
): Promise<FailingEndpoint | undefined> {
  const { now } = database
  const { rows: [failing] } = await sql<FailingEndpoint & { at: Date }>`
    update callback_endpoints set
      enabled = warned_at is null, warned_at = coalesce(warned_at, ${now}), disabled_at = case when warned_at is null then null else ${now} end
    where company_id = ${companyId} and endpoint_id = ${endpointId} and ${isOverdue(database)}
    returning case when enabled then 'company.endpoint_failing' else 'company.endpoint_disabled' end as type, endpoint_id as "endpointId",
      name, failing_since as "failingSince", ${now} as at`.execute(queries)
  if (failing === undefined) return undefined
  const { at, ...told } = failing
  const done = told.type === 'company.endpoint_failing' ? 'failing' as const : 'disabled' as const
  const facts = { name: told.name, failingSince: told.failingSince.toISOString() }
  await note(queries, { company_id: companyId, endpoint_id: endpointId }, done, facts, { author: null, at })
  return told
}

export type EndpointCallbackRow = Selectable<Tables['endpoint_callbacks']>
/** A callback with its attempts in order. */
export type EndpointCallbackRecord = EndpointCallbackRow & { attemptRows: CallbackAttemptRow[] }

/** Which callbacks of an endpoint are wanted. */
export type EndpointCallbackFilter = { state?: CallbackState, dispatchId?: string, test?: boolean }

/** Whether a callback is about a test: its dispatch is one, or its data say so, such as those of a batch. */
const isTest = sql<boolean>`coalesce(
  (select test from dispatches where dispatches.company_id = callback.company_id and dispatches.dispatch_id = callback.dispatch_id),
  coalesce(body::json #>> '{data,test}', body::json #>> '{shown,test}') = 'true', false)`

/** A page of the callbacks to an endpoint, the newest first. The last id is the cursor. */
export async function listEndpointCallbacks (
  database: Database,
  { companyId, endpointId }: EndpointRef,
  { state, dispatchId, test }: EndpointCallbackFilter,
  page: { limit: number, after?: string }
): Promise<EndpointCallbackRecord[]> {
  return database.snapshot(companyId,
    async (queries) =>
      withAttempts(queries, companyId, await queries.selectFrom('endpoint_callbacks as callback').select(columns.endpoint_callbacks)
        .where('company_id', '=', companyId).where('endpoint_id', '=', endpointId)
        .$if(state !== undefined, (query) => query.where('state', '=', state ?? 'failed'))
        .$if(dispatchId !== undefined, (query) => query.where('dispatch_id', '=', dispatchId ?? ''))
        .$if(test !== undefined, (query) => query.where(isTest, '=', test ?? false))
        .$if(page.after !== undefined, (query) => query.where('callback_id', '<', page.after ?? ''))
        .orderBy('callback_id', 'desc').limit(page.limit).execute()))
}

/**
 * Makes the failed and stopped callbacks of an endpoint due again that were recorded at `since` or later, the oldest first, at most `max`
 * of them, and resets their tries. Answers how many, or `disabled` where the endpoint gets nothing.
 */
export async function resendFailed (
  database: Database,
  { companyId, endpointId }: EndpointRef,
  { since, max, ...signature }: AuditStamp & { since: Date, max: number }
): Promise<number | 'disabled' | undefined> {
  return database.company(companyId, async (queries) => {
    const enabled = await isEnabled(queries, { companyId, endpointId })
    if (enabled !== true) return enabled === undefined ? undefined : 'disabled'
    const { numAffectedRows } = await sql`
      update endpoint_callbacks set state = 'pending', tries = 0, next_at = ${database.now} where callback_id in (
        select callback_id from endpoint_callbacks where company_id = ${companyId} and endpoint_id = ${endpointId}
          and state in ('failed', 'stopped') and body is not null and created_at >= ${since}
        order by callback_id limit ${max} for update skip locked)`.execute(queries)
    const queued = Number(numAffectedRows)
    await note(queries, { company_id: companyId, endpoint_id: endpointId }, 'resent', { since: since.toISOString(), queued }, signature)
    return queued
  })
}

/** Makes a callback to an endpoint due at once, as `replayCallback` does; `disabled` where the endpoint gets nothing. */
export async function replayEndpointCallback (
  database: Database,
  companyId: number,
  callbackId: string,
  { seconds, ...signature }: AuditStamp & { seconds: number }
): Promise<EndpointCallbackRecord | 'under way' | 'forgotten' | 'disabled' | undefined> {
  return database.company(companyId, async (queries) => {
    const read = queries.selectFrom('endpoint_callbacks').select(columns.endpoint_callbacks).where('company_id', '=', companyId)
      .where('callback_id', '=', callbackId)
    const present = await read.executeTakeFirst()
    if (present === undefined) return undefined
    if (await isEnabled(queries, { companyId, endpointId: present.endpoint_id }) !== true) return 'disabled'
    const made = await makeDue(queries, ofEndpoints, { companyId, callbackId }, { seconds, now: database.now, ...signature })
    return made === 'due' ? (await withAttempts(queries, companyId, [await read.executeTakeFirstOrThrow()]))[0] : made
  })
}

/** Whether an endpoint is enabled, which nobody changes in this transaction; undefined where the company has none. */
async function isEnabled (queries: CompanyQueries, { companyId, endpointId }: EndpointRef): Promise<boolean | undefined> {
  const row = await queries.selectFrom('callback_endpoints').select('enabled').where('company_id', '=', companyId)
    .where('endpoint_id', '=', endpointId).where('removed_at', 'is', null).forShare().executeTakeFirst()
  return row?.enabled
}

async function withAttempts (
  queries: CompanyQueries,
  companyId: number,
  rows: readonly EndpointCallbackRow[]
): Promise<EndpointCallbackRecord[]> {
  if (rows.length === 0) return []
  const attempts = await queries.selectFrom('endpoint_attempts').select(columns.endpoint_attempts).where('company_id', '=', companyId)
    .where('callback_id', 'in', rows.map((row) => row.callback_id)).orderBy('number').execute()
  return rows.map((row) => ({ ...row, attemptRows: attempts.filter((attempt) => attempt.callback_id === row.callback_id) }))
}
