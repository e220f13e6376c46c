import { type Actor, type AuditStamp, noteAudit, type Sight } from '@dispatch/accounts'
import type { Version } from '@dispatch/contract'
import type { CompanyQueries, Database } from '@dispatch/database'
import { addJobs, holdBack, type PreparedJobs, sealedText } from '@dispatch/tables'
import { type RawBuilder, sql } from 'kysely'
import { type BatchRow, tablesIn } from './tables.ts'

/** A batch by its company. */
export type BatchRef = { companyId: number, batchId: string }

/** A new batch, whose rows are still to come. */
export type NewBatch = BatchRef & {
  actor: Actor
  services: readonly string[]
  test: boolean
  mode: 'all' | 'valid'
  sandbox: boolean
  strict: boolean
  held: boolean
  version: Version
  requestId: string
  callbackUrl?: string
  idempotencyKey?: string
  at: Date
}

/** In seconds: a batch whose rows no longer come in. Longer than a request may take. */
const abandonedAfter = 180

/** The columns of a batch, but for its common body. */
export const columns = ['batch_id', 'company_id', 'user_id', 'impersonator_id', 'key', 'services', 'permitted', 'test', 'mode', 'sandbox',
  'strict', 'held', 'api_version', 'request_id', 'callback_url', 'idempotency_key', 'fingerprint', 'status', 'problem', 'is_open', 'total',
  'unchecked', 'waiting', 'handing', 'running', 'succeeded', 'failed', 'partial', 'uncertain', 'cancelled', 'refused', 'credits', 'told',
  'retried_by', 'claim', 'claimed_until', 'worked_at', 'created_at', 'checked_at', 'ended_at'] as const

/**
 * Begins a batch. Answers `many` where the company has so many that are not over. Where the key is taken, the batch that has it, or
 * `receiving` while its rows come in.
 */
export async function beginBatch (
  database: Database,
  { companyId, batchId, actor, idempotencyKey, ...batch }: NewBatch,
  max: number
): Promise<'begun' | 'many' | 'receiving' | BatchRow> {
  return database.company(companyId, async (queries) => {
    const tables = tablesIn(queries)
    await sql`select pg_advisory_xact_lock(hashtextextended('batches', ${companyId}))`.execute(queries)
    await tables.deleteFrom('batches').where('company_id', '=', companyId).where('status', '=', 'receiving')
      .where('worked_at', '<', sql<Date>`${database.now} - make_interval(secs => ${abandonedAfter})`).execute()
    if (idempotencyKey !== undefined) {
      const taken = await tables.selectFrom('batches').select(columns).where('company_id', '=', companyId)
        .where('idempotency_key', '=', idempotencyKey).executeTakeFirst()
      if (taken !== undefined) return taken.status === 'receiving' ? 'receiving' : taken
    }
    const { count } = await tables.selectFrom('batches').select(({ fn }) => fn.countAll<string>().as('count'))
      .where('company_id', '=', companyId).where('status', 'not in', ['finished', 'cancelled', 'refused']).executeTakeFirstOrThrow()
    if (Number(count) >= max) return 'many'
    await tables.insertInto('batches').values({
      batch_id: batchId,
      company_id: companyId,
      user_id: actor.userId,
      impersonator_id: actor.impersonatorId ?? null,
      key: actor.key === undefined ? null : JSON.stringify(actor.key),
      services: [...batch.services],
      permitted: [...actor.services],
      test: batch.test,
      mode: batch.mode,
      sandbox: batch.sandbox,
      strict: batch.strict,
      held: batch.held,
      api_version: batch.version,
      request_id: batch.requestId,
      callback_url: batch.callbackUrl ?? null,
      idempotency_key: idempotencyKey ?? null,
      status: 'receiving',
      worked_at: database.now,
      created_at: batch.at
    }).execute()
    return 'begun'
  })
}

/**
 * All rows of a batch have come: it is to be checked. Of several rows with one id, those after the first are refused with `repeated`.
 * Undefined where it took so long that it counts as abandoned.
 */
export async function endReceiving (
  database: Database,
  { companyId, batchId }: BatchRef,
  { fingerprint, common, repeated, counts }: {
    fingerprint: string
    common: string | null
    repeated: string
    counts: { total: number, refused: number }
  }
): Promise<BatchRow | undefined> {
  return database.company(companyId, async (queries) => {
    const { numAffectedRows: again = 0n } =
      await sql`update batch_rows as one set state = 'refused', body = null, problem = ${repeated} from (
        select row_id, min(number) as first from batch_rows
        where company_id = ${companyId} and batch_id = ${batchId} and row_id is not null group by row_id having count(*) > 1
      ) as several where company_id = ${companyId} and batch_id = ${batchId} and one.row_id = several.row_id and number > first
        and state = 'unchecked'`.execute(queries)
    const refused = counts.refused + Number(again)
    return tablesIn(queries).updateTable('batches').set({
      status: 'checking',
      is_open: true,
      fingerprint,
      common: common === null ? null : await sealedText(queries, companyId, common),
      total: counts.total,
      unchecked: counts.total - refused,
      refused,
      worked_at: database.now
    }).where('company_id', '=', companyId).where('batch_id', '=', batchId).where('status', '=', 'receiving').returning(columns)
      .executeTakeFirst()
  })
}

/** Removes a batch whose rows did not all come. */
export async function discardBatch (database: Database, { companyId, batchId }: BatchRef): Promise<void> {
  await database.company(companyId,
    (queries) =>
      tablesIn(queries).deleteFrom('batches').where('company_id', '=', companyId).where('batch_id', '=', batchId)
        .where('status', '=', 'receiving').execute())
}

/** A batch that the actor may see. */
export async function findBatch (database: Database, { companyId, batchId }: BatchRef, sight: Sight): Promise<BatchRow | undefined> {
  return database.company(companyId,
    (queries) =>
      tablesIn(queries).selectFrom('batches').select(columns).where(seenBy(companyId, sight)).where('batch_id', '=', batchId)
        .executeTakeFirst())
}

/** A page of the batches that the actor may see, the newest first. The last id is the cursor. */
export async function listBatches (
  database: Database,
  companyId: number,
  sight: Sight,
  { limit, after, test }: { limit: number, after?: string, test?: boolean }
): Promise<BatchRow[]> {
  return database.reading(companyId, (queries) =>
    tablesIn(queries).selectFrom('batches').select(columns).where(seenBy(companyId, sight))
      .$if(after !== undefined, (query) => query.where('batch_id', '<', after ?? ''))
      .$if(test !== undefined, (query) => query.where('test', '=', test ?? false))
      .orderBy('batch_id', 'desc').limit(limit).execute())
}

function seenBy (companyId: number, { test, services, userId }: Sight): RawBuilder<boolean> {
  return sql<boolean>`company_id = ${companyId} and status <> 'receiving'${test === undefined ? sql`` : sql` and test`}${
    userId === undefined ? sql`` : sql` and user_id = ${userId}`
  }${services === undefined ? sql`` : sql` and services <@ ${services}::text[]`}`
}

/**
 * Pauses a batch, lets it go on or cancels what of it is not sent, and notes that. What of it waits in the queue stays there while it is
 * paused; where it goes on, the job of each that is due is added again. Of one that is cancelled it stays there until it is cancelled too.
 * Undefined where it is in none of the statuses from which that can be done.
 */
export async function changeBatch (database: Database, ref: BatchRef, how: BatchChange): Promise<BatchRow | undefined> {
  return database.company(ref.companyId, (queries) => changeBatchIn(database, queries, ref, how))
}

/** `approved`: what waits for an approval has it; otherwise that goes on by nobody else. */
type BatchChange = AuditStamp & {
  from: readonly BatchRow['status'][]
  to: 'paused' | 'resumed' | 'cancelled'
  approved?: true
  jobOf: (dispatchId: string) => PreparedJobs
}

/** The same in a transaction. */
export async function changeBatchIn (
  database: Database,
  queries: CompanyQueries,
  { companyId, batchId }: BatchRef,
  { from, to, approved, jobOf, ...stamp }: BatchChange
): Promise<BatchRow | undefined> {
  const status = to === 'resumed'
    ? sql<BatchRow['status']>`case when checked_at is null then 'checking' when waiting + unchecked + handing = total - refused
          then 'queued' else 'running' end`
    : to
  const changed = await tablesIn(queries).updateTable('batches').set({
    status,
    problem: null,
    is_open: true,
    claimed_until: atOnce,
    ...to === 'cancelled' ? { ended_at: database.now } : {}
  }).where('company_id', '=', companyId).where('batch_id', '=', batchId).where('status', 'in', from)
    .$if(to === 'resumed' && approved === undefined, (query) => query.where(isNotAsked))
    .returning(columns).executeTakeFirst()
  if (changed !== undefined) {
    await holdBack(queries, { companyId, batchId }, to !== 'resumed')
    await noteAudit(queries, { companyId, action: `batch.${to}`, object: { kind: 'batch', id: batchId }, ...stamp })
    if (to === 'resumed') await addJobs(queries, ...(await listDue(database, queries, { companyId, batchId })).map(jobOf))
  }
  return changed
}

/** Whether nobody else has to approve a batch. */
const isNotAsked = sql<boolean>`problem::json->>'error' is distinct from 'approval_required'`

/** Whoever changes a batch does not wait until it has rested, but for the process that works on it. */
const atOnce = sql<Date | null>`case when claim is null then null else claimed_until end`

/** Lets what has begun of a batch that was cancelled go on: of the rest, nothing is left in the queue. */
export async function letGo (
  database: Database,
  { companyId, batchId }: BatchRef,
  jobOf: (dispatchId: string) => PreparedJobs
): Promise<void> {
  await database.company(companyId, async (queries) => {
    if (!await holdBack(queries, { companyId, batchId }, false)) return
    await addJobs(queries, ...(await listDue(database, queries, { companyId, batchId })).map(jobOf))
  })
}

/** The dispatches of a batch that wait in the queue and are due, at most 1,000; the sweep finds others. */
async function listDue ({ now }: Database, queries: CompanyQueries, { companyId, batchId }: BatchRef): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`select dispatch_id as id
    from batch_rows as one join dispatches as dispatch using (company_id, dispatch_id)
    where one.company_id = ${companyId} and one.batch_id = ${batchId} and state in ('handing', 'running')
      and dispatch.status = 'queued' and run_id is null and next_try_at <= ${now} order by number limit 1000`.execute(queries)
  return rows.map(({ id }) => id)
}

/**
 * Lets the rows that failed or were refused be sent again: those first checked again that were refused when they were. `nothing`: there are
 * none; undefined where it is not in such a state, or somebody else has to approve it.
 */
export async function retryBatch (
  database: Database,
  { companyId, batchId }: BatchRef,
  { from, ...stamp }: AuditStamp & { from: readonly BatchRow['status'][] }
): Promise<BatchRow | 'nothing' | undefined> {
  return database.company(companyId, async (queries) => {
    const tables = tablesIn(queries)
    const of = await tables.selectFrom('batches').select('status').where('company_id', '=', companyId).where('batch_id', '=', batchId)
      .where(isNotAsked).forUpdate().executeTakeFirst()
    if (of === undefined || !from.includes(of.status)) return undefined
    const { rows: counts } = await sql<{ state: 'failed' | 'partial' | 'refused', rows: number, unchecked: number }>`with again as (
        select number, state, case when dispatch_id is null and facts is null then 'unchecked' else 'waiting' end as next
        from batch_rows where company_id = ${companyId} and batch_id = ${batchId}
          and state in ('failed', 'partial', 'refused') and (dispatch_id is not null or body is not null)
      ), changed as (
        update batch_rows set state = next, problem = null, tries = 0 from again
        where company_id = ${companyId} and batch_id = ${batchId} and batch_rows.number = again.number returning again.state, next
      ) select state, count(*)::integer as rows, count(*) filter (where next = 'unchecked')::integer as unchecked
        from changed group by state`.execute(queries)
    if (counts.length === 0) return 'nothing'
    const again = counts.reduce((sum, { rows }) => sum + rows, 0)
    const unchecked = counts.reduce((sum, one) => sum + one.unchecked, 0)
    const left = Object.fromEntries(counts.map(({ state, rows }) => [state, sql<number>`${sql.ref(state)} - ${rows}`]))
    const goesOn = unchecked > 0 ? 'checking' : 'running'
    const changed = await tables.updateTable('batches').set({
      ...left,
      ...unchecked > 0 && { unchecked: sql<number>`unchecked + ${unchecked}`, checked_at: null },
      waiting: sql<number>`waiting + ${again - unchecked}`,
      status: sql<BatchRow['status']>`case when status = 'paused' then 'paused' else ${sql.lit(goesOn)} end`,
      is_open: true,
      claimed_until: atOnce,
      ended_at: null,
      told: sql<number>`least(told, 9)`,
      retried_by: JSON.stringify(stamp.author)
    }).where('company_id', '=', companyId).where('batch_id', '=', batchId).returning(columns).executeTakeFirstOrThrow()
    await noteAudit(queries, {
      companyId,
      action: 'batch.retried',
      object: { kind: 'batch', id: batchId },
      facts: { rows: again },
      ...stamp
    })
    return changed
  })
}

/** Forgets batches that ended so many days ago, and those whose rows never all came. */
export async function forgetBatches ({ owner, now }: Database, days: number): Promise<void> {
  await sql`delete from batches where batch_id in (
      select batch_id from batches where ended_at < ${now} - make_interval(days => ${days}) limit 5
    )`.execute(owner)
  await sql`delete from batches where batch_id in (
      select batch_id from batches where status = 'receiving' and worked_at < ${now} - make_interval(secs => ${abandonedAfter}) limit 5
    )`.execute(owner)
}
