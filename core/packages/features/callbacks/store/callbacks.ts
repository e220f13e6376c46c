import { type AuditStamp, noteAudit } from '@dispatch/accounts'
import type { CallbackState, CallbackType } from '@dispatch/contract'
import { addSeconds, type CompanyQueries, type Database, type SqlTimestamp } from '@dispatch/database'
import { type RawBuilder, type Selectable, sql } from 'kysely'
import { type EndpointRef, note } from './endpoints.ts'
import { columns, type Tables } from './tables.ts'

type CallbackRow = Selectable<Tables['outbox']>
/** A callback with its attempts in order. */
export type CallbackRecord = CallbackRow & { attemptRows: Selectable<Tables['outbox_attempts']>[] }

/** Of callbacks in their order those after a cursor, at most `limit`. */
type Page = { limit: number, after?: string }

/**
 * A page of the callbacks of a dispatch to its address, or (null) of those about the company itself, in their order. The last sequence is
 * the cursor.
 */
export async function listCallbacks (
  database: Database,
  companyId: number,
  dispatchId: string | null,
  page: Page
): Promise<CallbackRecord[]> {
  return database.snapshot(companyId,
    async (queries) =>
      withAttempts(queries, companyId, await queries.selectFrom('outbox').select(columns.outbox).where('endpoint_id', 'is', null)
        .where('company_id', '=', companyId).where('dispatch_id', 'is not distinct from', dispatchId)
        .$if(page.after !== undefined, (query) => query.where('sequence', '>', Number(page.after)))
        .orderBy('sequence').limit(page.limit).execute()))
}

/** A page of the callbacks of a company that its addresses did not take, the newest first. The last id is the cursor. */
export async function listFailedCallbacks (database: Database, companyId: number, page: Page): Promise<CallbackRecord[]> {
  return database.reading(companyId,
    async (queries) =>
      withAttempts(queries, companyId, await queries.selectFrom('outbox').select(columns.outbox).where('endpoint_id', 'is', null)
        .where('company_id', '=', companyId).where('state', '=', 'failed')
        .$if(page.after !== undefined, (query) => query.where('callback_id', '<', page.after ?? ''))
        .orderBy('callback_id', 'desc').limit(page.limit).execute()))
}

/** Which callbacks to an endpoint are listed. */
export type EndpointCallbackFilter = { state?: CallbackState, dispatchId?: string, test?: boolean, failedSince?: Date }

/** Whether a callback was not received since a time, and can be sent again. */
const isFailedSince = (since: Date): RawBuilder<boolean> =>
  sql<boolean>`state in ('failed', 'stopped') and body is not null and created_at >= ${since}`

/** Whether a callback is about a test: its dispatch is one, or its data say so, such as those of a batch. */
const isTest = sql<boolean>`coalesce(
  (select test from dispatches where dispatches.company_id = callback.company_id and dispatches.dispatch_id = callback.dispatch_id),
  coalesce(body::json #>> '{data,test}', body::json #>> '{shown,test}') = 'true', false)`

/** A page of the callbacks to an endpoint, the newest first. The last id is the cursor. */
export async function listEndpointCallbacks (
  database: Database,
  { companyId, endpointId }: EndpointRef,
  { state, dispatchId, test, failedSince }: EndpointCallbackFilter,
  page: Page
): Promise<CallbackRecord[]> {
  return database.snapshot(companyId,
    async (queries) =>
      withAttempts(queries, companyId, await queries.selectFrom('outbox as callback').select(columns.outbox)
        .where('company_id', '=', companyId).where('endpoint_id', '=', endpointId)
        .$if(state !== undefined, (query) => query.where('state', '=', state ?? 'failed'))
        .$if(dispatchId !== undefined, (query) => query.where('dispatch_id', '=', dispatchId ?? ''))
        .$if(test !== undefined, (query) => query.where(isTest, '=', test ?? false))
        .$if(failedSince !== undefined, (query) => query.where(isFailedSince(failedSince ?? new Date(0))))
        .$if(page.after !== undefined, (query) => query.where('callback_id', '<', page.after ?? ''))
        .orderBy('callback_id', 'desc').limit(page.limit).execute()))
}

/** Why a callback is not made due: an attempt may be under way, its body was deleted, or its endpoint gets nothing. */
export type NotReplayed = 'under way' | 'forgotten' | 'disabled'

/**
 * Makes a callback due at once, and resets its tries. `seconds`: for how long an attempt may be under way. Answers undefined where there is
 * no such callback.
 */
export async function replayCallback (
  database: Database,
  companyId: number,
  callbackId: string,
  { seconds, ...signature }: AuditStamp & { seconds: number }
): Promise<CallbackRecord | NotReplayed | undefined> {
  return database.company(companyId, async (queries) => {
    const read = queries.selectFrom('outbox').select(columns.outbox).where('company_id', '=', companyId)
      .where('callback_id', '=', callbackId)
    const present = await read.executeTakeFirst()
    if (present === undefined) return undefined
    const { endpoint_id: endpointId } = present
    // Whoever disables an endpoint locks it before its callbacks.
    if (endpointId !== null && await isEnabled(queries, { companyId, endpointId }) !== true) return 'disabled'
    const made = await makeDue(queries, { companyId, callbackId }, { seconds, now: database.now, ...signature })
    return made === 'due' ? (await withAttempts(queries, companyId, [await read.executeTakeFirstOrThrow()]))[0] : made
  })
}

async function makeDue (
  queries: CompanyQueries,
  { companyId, callbackId }: { companyId: number, callbackId: string },
  { seconds, now, ...signature }: AuditStamp & { seconds: number, now: SqlTimestamp }
): Promise<'due' | Exclude<NotReplayed, 'disabled'> | undefined> {
  const one = sql`company_id = ${companyId} and callback_id = ${callbackId}`
  const { rows: [row] } = await sql<{ type: CallbackType, forgotten: boolean }>`
    select type, body is null as forgotten from outbox where ${one} for update`.execute(queries)
  if (row === undefined) return undefined
  if (row.forgotten) return 'forgotten'
  const { rows: busy } = await sql`select from outbox_attempts where ${one} and outcome is null
    and at > ${addSeconds(now, -seconds)} limit 1`.execute(queries)
  if (busy.length > 0) return 'under way'
  await sql`update outbox set state = 'pending', tries = 0, next_at = ${now} where ${one}`.execute(queries)
  const object = { kind: 'callback', id: callbackId }
  await noteAudit(queries, { companyId, action: 'callback.replayed', object, facts: { type: row.type }, ...signature })
  return 'due'
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
      update outbox set state = 'pending', tries = 0, next_at = ${database.now} where callback_id in (
        select callback_id from outbox where company_id = ${companyId} and endpoint_id = ${endpointId}
          and ${isFailedSince(since)}
        order by callback_id limit ${max} for update skip locked)`.execute(queries)
    const queued = Number(numAffectedRows)
    await note(queries, { company_id: companyId, endpoint_id: endpointId }, 'resent', { since: since.toISOString(), queued }, signature)
    return queued
  })
}

/** Whether an endpoint is enabled, which nobody changes in this transaction; undefined where the company has none. */
async function isEnabled (queries: CompanyQueries, { companyId, endpointId }: EndpointRef): Promise<boolean | undefined> {
  const row = await queries.selectFrom('callback_endpoints').select('enabled').where('company_id', '=', companyId)
    .where('endpoint_id', '=', endpointId).where('removed_at', 'is', null).forShare().executeTakeFirst()
  return row?.enabled
}

async function withAttempts (queries: CompanyQueries, companyId: number, rows: readonly CallbackRow[]): Promise<CallbackRecord[]> {
  if (rows.length === 0) return []
  const attempts = await queries.selectFrom('outbox_attempts').select(columns.outbox_attempts).where('company_id', '=', companyId)
    .where('callback_id', 'in', rows.map((row) => row.callback_id)).orderBy('number').execute()
  return rows.map((row) => ({ ...row, attemptRows: attempts.filter((attempt) => attempt.callback_id === row.callback_id) }))
}
