import { type AuditStamp, noteAudit } from '@dispatch/accounts'
import type { JsonObject } from '@dispatch/common'
import type { AttemptOutcome, CallbackState, CallbackType } from '@dispatch/contract'
import { addSeconds, type CompanyQueries, type Database, type OwnerQueries, type SqlTimestamp } from '@dispatch/database'
import { sealedEvent } from '@dispatch/tables'
import { type Selectable, sql } from 'kysely'
import { columns, columnsOf, type Tables } from './tables.ts'

/** An event that is told. `data`: the dispatch as a client reads it at this event; `sequence`: its number for who is told. */
export type NotifiedEvent = { type: CallbackType, data: JsonObject, now: Date, sequence: number }

/** A callback to record. `due`: it is sent from this time on. `sequence`: the next one of the dispatch unless given. */
export type NewCallback = {
  companyId: number
  dispatchId: string
  type: CallbackType
  url: string
  data: JsonObject
  now: Date
  due: SqlTimestamp
  newId: () => string
  sequence?: number
}

/** Adds the job that delivers a callback, in the transaction that records it. */
export type EnqueueCallback = (queries: OwnerQueries, callback: { companyId: number, callbackId: string }) => Promise<void>

/**
 * Records a callback and its job in the transaction that records the event: either all are recorded or none. The callbacks of a dispatch
 * are numbered without gaps, in the order in which their events were committed. Answers the id.
 */
export async function noteCallback (queries: OwnerQueries, callback: NewCallback, enqueue: EnqueueCallback): Promise<string> {
  const sequence = callback.sequence ?? await nextSequence(queries, callback)
  return insertCallback(queries, { ...callback, sequence }, enqueue)
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

/** The same for a callback about the company itself, whose number is known. */
export async function noteCompanyCallback (
  queries: OwnerQueries,
  callback: Omit<NewCallback, 'dispatchId'> & { sequence: number },
  enqueue: EnqueueCallback
): Promise<void> {
  await insertCallback(queries, { ...callback, dispatchId: null }, enqueue)
}

type Numbered = Omit<NewCallback, 'dispatchId'> & { dispatchId: string | null, sequence: number }

async function insertCallback (queries: OwnerQueries, callback: Numbered, enqueue: EnqueueCallback): Promise<string> {
  const row = callbackRow(callback, await callbackBody(queries, callback))
  await queries.insertInto('callbacks').values(row).execute()
  await enqueue(queries, { companyId: callback.companyId, callbackId: row.callback_id })
  return row.callback_id
}

/** The row of a new callback. `dispatchId` null: it is about the company itself, and `sequence` counts those. */
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

/** What a receiver is sent, as it is stored: around the number of the event, which only the database may know. */
export type CallbackBody = { head: string, tail: string, of: (sequence: number) => string }

export async function callbackBody (
  queries: Pick<OwnerQueries, 'getExecutor'>,
  { companyId, type, data, now }: Omit<NotifiedEvent, 'sequence'> & { companyId: number }
): Promise<CallbackBody> {
  const plain = JSON.stringify({ type, timestamp: now.toISOString(), sequence: null, data })
  const text = await sealedEvent(queries, companyId, plain)
  const [head, tail] = text === plain ? split(text, '"sequence":null') : [`${text.slice(0, -1)},"sequence":`, '}']
  return { head, tail, of: (sequence) => `${head}${sequence}${tail}` }
}

/** A text around the first number that stands empty in it. */
function split (text: string, empty: string): [string, string] {
  const at = text.indexOf(empty)
  return [text.slice(0, at + empty.length - 'null'.length), text.slice(at + empty.length)]
}

/** The tables of callbacks and of the attempts at them. Their columns have the same names. */
export type CallbackTables =
  | { callbacks: 'callbacks', attempts: 'callback_attempts' }
  | { callbacks: 'endpoint_callbacks', attempts: 'endpoint_attempts' }

/** Callbacks to the addresses of dispatches, and to the company's own for warnings. */
const ofDispatches: CallbackTables = { callbacks: 'callbacks', attempts: 'callback_attempts' }

/** A callback that this process sends now; `tries` includes this one. */
export type ClaimedCallback = {
  callbackId: string
  companyId: number
  dispatchId: string | null
  url: string
  body: string
  number: number
  tries: number
  /** Of the request that asked for the dispatch, where it was traced. */
  traceparent: string | null
}

/**
 * `seconds`: how long a claim lasts; after that its process has surely ended. `perCompany`, `perReceiver`: how many requests may be under
 * way at a time.
 */
export type ClaimLimits = { seconds: number, perCompany: number, perReceiver: number }

/** Claims the company's callback that has been due longest and whose receiver is not busy, and records the attempt. */
export async function claimCallback (
  database: Database,
  companyId: number,
  { seconds, perCompany, perReceiver }: ClaimLimits
): Promise<ClaimedCallback | undefined> {
  const { now } = database
  return database.company(companyId, async (queries) => {
    // The lock puts the claims of a company in a row, so that each counts those before it.
    await sql`select pg_advisory_xact_lock(hashtextextended('callback claim', ${companyId}))`.execute(queries)
    const { rows: [claimed] } = await sql<ClaimedCallback>`
      with busy as (
        select receiver, count(*) as requests from callback_attempts join callbacks using (callback_id)
        where callback_attempts.company_id = ${companyId} and outcome is null and at > ${addSeconds(now, -seconds)} group by receiver
      ), due as (
        select callback_id from callbacks where company_id = ${companyId} and state = 'pending' and next_at <= ${now}
          and (select coalesce(sum(requests), 0) from busy) < ${perCompany} and receiver not in (select receiver from busy
            where requests >= ${perReceiver})
        order by next_at, callback_id limit 1 for update skip locked
      ), claimed as (
        update callbacks set next_at = ${addSeconds(now, seconds)}, attempts = attempts + 1, tries = tries + 1 from due
          where callbacks.callback_id = due.callback_id returning ${columnsOf('callbacks')}
      ), attempt as (
        insert into callback_attempts (callback_id, number, company_id, at) select callback_id, attempts, company_id, ${now} from claimed
      )
      select callback_id as "callbackId", company_id as "companyId", dispatch_id as "dispatchId", url, body, attempts as number, tries,
        (select traceparent from steps where steps.dispatch_id = claimed.dispatch_id and position = 0) as traceparent
        from claimed`.execute(queries)
    return claimed
  })
}

/** Whether the company has callbacks that are due within so many seconds. */
export async function hasDueCallbacks (
  database: Database,
  companyId: number,
  seconds: number,
  { callbacks }: CallbackTables = ofDispatches
): Promise<boolean> {
  return database.company(companyId, async (queries) => {
    const { rows: [due] } = await sql`select from ${sql.table(callbacks)} where company_id = ${companyId} and state = 'pending'
      and next_at <= ${addSeconds(database.now, seconds)} limit 1`.execute(queries)
    return due !== undefined
  })
}

/** The outcome of an attempt, and the new state of its callback. `after`: seconds until a pending one is sent again. */
export type AttemptEnd =
  & { outcome: AttemptOutcome, status?: number, reason?: string, milliseconds: number }
  & ({ state: 'pending', after: number } | { state: Exclude<CallbackState, 'pending'> })

/** An attempt at a callback. */
export type AttemptRef = { companyId: number, callbackId: string, number: number }

/** Records the outcome of an attempt. Where a newer attempt has begun, the callback keeps its state. */
export async function settleCallback (database: Database, attempt: AttemptRef, end: AttemptEnd): Promise<void> {
  await database.company(attempt.companyId, (queries) => recordAttempt(queries, ofDispatches, attempt, { ...end, now: database.now }))
}

/** The same as {@link settleCallback}, in a transaction. */
export async function recordAttempt (
  queries: CompanyQueries,
  { callbacks, attempts }: CallbackTables,
  { companyId, callbackId, number }: AttemptRef,
  { now, ...end }: AttemptEnd & { now: SqlTimestamp }
): Promise<void> {
  await sql`update ${sql.table(attempts)} set outcome = ${end.outcome}, status = ${end.status ?? null}, reason = ${end.reason ?? null},
    milliseconds = ${end.milliseconds} where company_id = ${companyId} and callback_id = ${callbackId} and number = ${number}`.execute(
    queries
  )
  const nextAt = end.state === 'pending' ? addSeconds(now, end.after) : sql<Date | null>`null::timestamptz`
  // A delivery counts, even where it is known late.
  const newest = end.outcome === 'delivered' ? sql`` : sql` and attempts = ${number} and state = 'pending'`
  await sql`update ${sql.table(callbacks)} set state = ${end.state}, next_at = ${nextAt}
    where company_id = ${companyId} and callback_id = ${callbackId}${newest}`.execute(queries)
}

/** Companies with callbacks that have been due for so many seconds: their jobs may have been lost. */
export async function listCompaniesDue (
  { owner, now }: Database,
  seconds: number,
  { callbacks }: CallbackTables = ofDispatches
): Promise<number[]> {
  const { rows } = await sql<{ companyId: number }>`select distinct company_id as "companyId" from ${sql.table(callbacks)}
    where state = 'pending' and next_at < ${addSeconds(now, -seconds)}`.execute(owner)
  return rows.map(({ companyId }) => companyId)
}

export type CallbackRow = Selectable<Tables['callbacks']>
export type CallbackAttemptRow = Selectable<Tables['callback_attempts']>
/** A callback with its attempts in order. */
export type CallbackRecord = CallbackRow & { attemptRows: CallbackAttemptRow[] }

/** A page of the callbacks of a dispatch, or (null) of those about the company itself, in their order. The last sequence is the cursor. */
export async function listCallbacks (
  database: Database,
  companyId: number,
  dispatchId: string | null,
  page: { limit: number, after?: string }
): Promise<CallbackRecord[]> {
  return database.snapshot(companyId,
    async (queries) =>
      withAttempts(queries, companyId, await queries.selectFrom('callbacks').select(columns.callbacks)
        .where('company_id', '=', companyId).where('dispatch_id', 'is not distinct from', dispatchId)
        .$if(page.after !== undefined, (query) => query.where('sequence', '>', Number(page.after)))
        .orderBy('sequence').limit(page.limit).execute()))
}

/** A page of the callbacks of a company that its addresses did not take, the newest first. The last id is the cursor. */
export async function listFailedCallbacks (
  database: Database,
  companyId: number,
  page: { limit: number, after?: string }
): Promise<CallbackRecord[]> {
  return database.reading(companyId,
    async (queries) =>
      withAttempts(queries, companyId, await queries.selectFrom('callbacks').select(columns.callbacks)
        .where('company_id', '=', companyId).where('state', '=', 'failed')
        .$if(page.after !== undefined, (query) => query.where('callback_id', '<', page.after ?? ''))
        .orderBy('callback_id', 'desc').limit(page.limit).execute()))
}

/**
 * Makes a callback due at once, and resets its tries. Answers undefined where there is no such callback, `under way` where an attempt began
 * within the `seconds` of a claim, and `forgotten` where its body was deleted.
 */
export async function replayCallback (
  database: Database,
  companyId: number,
  callbackId: string,
  { seconds, ...signature }: AuditStamp & { seconds: number }
): Promise<CallbackRecord | 'under way' | 'forgotten' | undefined> {
  return database.company(companyId, async (queries) => {
    const made = await makeDue(queries, ofDispatches, { companyId, callbackId }, { seconds, now: database.now, ...signature })
    if (made !== 'due') return made
    const row = await queries.selectFrom('callbacks').select(columns.callbacks).where('company_id', '=', companyId)
      .where('callback_id', '=', callbackId).executeTakeFirstOrThrow()
    return (await withAttempts(queries, companyId, [row]))[0]
  })
}

/** Makes a callback due at once in a transaction, as {@link replayCallback}. */
export async function makeDue (
  queries: CompanyQueries,
  { callbacks, attempts }: CallbackTables,
  { companyId, callbackId }: Omit<AttemptRef, 'number'>,
  { seconds, now, ...signature }: AuditStamp & { seconds: number, now: SqlTimestamp }
): Promise<'due' | 'under way' | 'forgotten' | undefined> {
  const one = sql`company_id = ${companyId} and callback_id = ${callbackId}`
  const { rows: [row] } = await sql<{ type: CallbackType, forgotten: boolean }>`
    select type, body is null as forgotten from ${sql.table(callbacks)} where ${one} for update`.execute(queries)
  if (row === undefined) return undefined
  if (row.forgotten) return 'forgotten'
  const { rows: busy } = await sql`select from ${sql.table(attempts)} where ${one} and outcome is null
    and at > ${addSeconds(now, -seconds)} limit 1`.execute(queries)
  if (busy.length > 0) return 'under way'
  await sql`update ${sql.table(callbacks)} set state = 'pending', tries = 0, next_at = ${now} where ${one}`.execute(queries)
  const object = { kind: 'callback', id: callbackId }
  await noteAudit(queries, { companyId, action: 'callback.replayed', object, facts: { type: row.type }, ...signature })
  return 'due'
}

async function withAttempts (queries: OwnerQueries, companyId: number, rows: readonly CallbackRow[]): Promise<CallbackRecord[]> {
  if (rows.length === 0) return []
  const attempts = await queries.selectFrom('callback_attempts').select(columns.callback_attempts).where('company_id', '=', companyId)
    .where('callback_id', 'in', rows.map((row) => row.callback_id)).orderBy('number').execute()
  return rows.map((row) => ({ ...row, attemptRows: attempts.filter((attempt) => attempt.callback_id === row.callback_id) }))
}
