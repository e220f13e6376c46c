import { asOwner, type CompanyQueries, type Database } from '@dispatch/database'
import { holdBack, openText, sealedText } from '@dispatch/tables'
import { sql } from 'kysely'
import { type BatchRef, columns } from './batches.ts'
import { noteFiles } from './named-files.ts'
import { type BatchRow, type RowFacts, type RowState, tablesIn } from './tables.ts'

/** A row that has come. `problem`: why no dispatch can be made of it. */
export type NewRow = { number: number, id?: string, body: string } | { number: number, problem: object }

/** Adds rows to a batch whose rows still come in, with files that they name. Answers false where it counts as abandoned. */
export async function addRows (
  database: Database,
  { companyId, batchId }: BatchRef,
  rows: readonly NewRow[],
  files: readonly string[]
): Promise<boolean> {
  const asStored = await Promise.all(rows.map(async (row) => ({
    batch_id: batchId,
    company_id: companyId,
    number: row.number,
    ...'body' in row
      ? { row_id: row.id ?? null, body: await sealedText(database.owner, companyId, row.body), state: 'unchecked' as const }
      : { problem: JSON.stringify(row.problem), state: 'refused' as const }
  })))
  return database.company(companyId, async (queries) => {
    const tables = tablesIn(queries)
    const { numUpdatedRows } = await tables.updateTable('batches').set({ worked_at: database.now }).where('company_id', '=', companyId)
      .where('batch_id', '=', batchId).where('status', '=', 'receiving').executeTakeFirstOrThrow()
    if (numUpdatedRows === 0n) return false
    await tables.insertInto('batch_rows').values(asStored).execute()
    await noteFiles(queries, { companyId, batchId }, files)
    return true
  })
}

/** A row in the results. */
export type ResultRow = { number: number, row_id: string | null, state: RowState, dispatch_id: string | null, problem: string | null }

/** So many rows of a batch after a number, in their order, each in the state in which its dispatch is now. */
export async function listResults (
  database: Database,
  { companyId, batchId }: BatchRef,
  { after, limit, states }: { after: number, limit: number, states?: readonly RowState[] }
): Promise<ResultRow[]> {
  return database.reading(companyId, async (queries) => {
    const { rows } = await sql<ResultRow>`select number, row_id, dispatch_id, problem,
        case when state in ('handing', 'running') or dispatch.status is null then state
          when state = 'waiting' or dispatch.status in ('queued', 'running') then state else dispatch.status end as state
      from batch_rows as one left join dispatches as dispatch using (company_id, dispatch_id)
      where one.company_id = ${companyId} and batch_id = ${batchId} and number > ${after}${
      states === undefined ? sql`` : sql` and state = any (${states}::text[])`
    } order by number limit ${limit}`.execute(queries)
    return rows
  })
}

/** Claims the open batch that nobody has worked on for longest. `seconds`: how long the claim lasts. */
export async function claimBatch ({ owner, now }: Database, claim: string, seconds: number): Promise<BatchRow | undefined> {
  return tablesIn(owner).updateTable('batches')
    .set({ claim, claimed_until: sql<Date>`${now} + make_interval(secs => ${seconds})` })
    .where('batch_id', '=', (from) =>
      from.selectFrom('batches').select('batch_id').where('is_open', '=', true)
        .where((where) => where.or([where('claimed_until', 'is', null), where('claimed_until', '<', now)]))
        .orderBy('worked_at').limit(1).forUpdate().skipLocked())
    .returning(columns).executeTakeFirst()
}

/** Ends a claim: the batch may be claimed again in so many seconds, or at once where its status has changed. */
export async function releaseBatch (
  { owner, now }: Database,
  { batch_id: batchId, status }: BatchRow,
  claim: string,
  seconds: number
): Promise<void> {
  const claimed = seconds === 0 ? null : sql<Date>`case when status = ${status} then ${now} + make_interval(secs => ${seconds}) end`
  await tablesIn(owner).updateTable('batches').set({ claim: null, claimed_until: claimed, worked_at: now }).where('batch_id', '=', batchId)
    .where('claim', '=', claim).execute()
}

/** A row to work on. `stored`: its body, which may be sealed. */
export type Work = { number: number, row_id: string | null, stored: string | null, dispatch_id: string | null, tries: number }

/** The same with its body opened. */
export type OpenWork = Omit<Work, 'stored'> & { body: string | null }

/** In characters: of the rows that are worked on at once. */
const maxTogether = 2 * 1024 * 1024

/** The next rows in a state, up to a number of them and a size. */
export async function nextRows (
  database: Database,
  { companyId, batchId }: BatchRef,
  state: 'unchecked' | 'waiting' | 'handing',
  limit: number
): Promise<Work[]> {
  return database.company(companyId, async (queries) => {
    const { rows } = await sql<Work>`select number, row_id, body as stored, dispatch_id, tries from (
        select *, sum(coalesce(length(body), 0)) over (order by number) - coalesce(length(body), 0) as before from (
          select number, row_id, body, dispatch_id, tries from batch_rows
          where company_id = ${companyId} and batch_id = ${batchId} and state = ${sql.lit(state)} order by number limit ${limit}
        ) as next
      ) as sized where before < ${maxTogether} order by number`.execute(queries)
    return rows
  })
}

/** What all rows of a batch have in common, null where they have nothing; undefined where it was sealed under a data key that is lost. */
export async function readCommon (database: Database, { companyId, batchId }: BatchRef): Promise<string | null | undefined> {
  const row = await database.company(companyId,
    (queries) =>
      tablesIn(queries).selectFrom('batches').select('common as stored').where('company_id', '=', companyId)
        .where('batch_id', '=', batchId).executeTakeFirst())
  const stored = row?.stored ?? null
  return stored === null ? null : openText(database.owner, stored)
}

/** Opens rows of a batch, and what they have in common. Undefined where any of it was sealed under a data key that is lost. */
export async function openRows (
  database: Database,
  ref: BatchRef,
  rows: readonly Work[]
): Promise<{ common: string | null, rows: OpenWork[] } | undefined> {
  const common = await readCommon(database, ref)
  if (common === undefined) return undefined
  const opened: OpenWork[] = []
  for (const { stored, ...row } of rows) {
    const body = stored === null ? null : await openText(database.owner, stored)
    if (body === undefined) return undefined
    opened.push({ ...row, body })
  }
  return { common, rows: opened }
}

/** A change of the state of a row. */
export type RowChange = {
  number: number
  from: RowState
  to: RowState
  dispatchId?: string
  problem?: string
  /** Its body is not needed any more. */
  forget?: true
  /** Its price. */
  credits?: number
  /** What was found when it was checked. */
  facts?: RowFacts
}

/**
 * Records what has become of rows, counts them, and adds their prices to that of the batch. What another process has changed meanwhile
 * stays. Answers the batch as it is then.
 */
export async function changeRows (
  database: Database,
  { companyId, batchId }: BatchRef,
  changes: readonly RowChange[]
): Promise<BatchRow | undefined> {
  return database.company(companyId, async (queries) => {
    const tables = tablesIn(queries)
    // In this order everywhere: the batch, then its rows. Found by their numbers, each of which is one row: the database knows nothing of a
    // batch that has just come in, and would read all of it.
    await tables.selectFrom('batches').select('batch_id').where('company_id', '=', companyId).where('batch_id', '=', batchId).forUpdate()
      .execute()
    const given = JSON.stringify(changes.map(({ from, to, dispatchId, forget, credits, ...change }) => ({
      ...change,
      was: from,
      next: to,
      dispatch: dispatchId,
      forget: forget ?? false,
      credits: credits ?? 0
    })))
    const { rows: moved } = await sql<{ was: RowState, next: RowState, rows: number, credits: number }>`with given as (
        select * from json_to_recordset(${given}::json) as one (number integer, was text, next text, dispatch uuid, problem text,
          forget boolean, credits integer, facts jsonb)
      ), changed as (
        update batch_rows set state = next, dispatch_id = coalesce(dispatch, dispatch_id), problem = given.problem,
          tries = tries + (next = was or (was = 'handing' and next = 'waiting'))::integer, body = case when forget then null else body end,
          facts = case when forget then null else coalesce(given.facts, batch_rows.facts) end,
          fed_at = case when next = 'running' then ${database.now} else fed_at end
        from given where company_id = ${companyId} and batch_id = ${batchId} and batch_rows.number = given.number and state = was
          and batch_rows.number = any(${changes.map(({ number }) => number)}::integer[])
        returning was, next, credits
      ) select was, next, count(*)::integer as rows, sum(credits)::integer as credits from changed group by was, next`.execute(queries)
    const counts = new Map<RowState, number>()
    const credits = moved.reduce((sum, one) => sum + one.credits, 0)
    for (const { was, next, rows } of moved) {
      counts.set(was, (counts.get(was) ?? 0) - rows)
      counts.set(next, (counts.get(next) ?? 0) + rows)
    }
    return tables.updateTable('batches').set({
      ...Object.fromEntries([...counts].map(([state, rows]) => [state, sql<number>`${sql.ref(state)} + ${rows}`])),
      credits: sql<string>`credits + ${credits}`
    }).where('company_id', '=', companyId).where('batch_id', '=', batchId).returning(columns).executeTakeFirst()
  })
}

/** Rows that were sent, with the status of their dispatches. `recent`: sent within so many seconds. */
export type UnderWay = { number: number, status: RowState | 'queued', recent: boolean }

/** The rows of a batch that are under way, up to a number of them, with what has become of their dispatches. */
export async function listUnderWay (
  database: Database,
  { companyId, batchId }: BatchRef,
  { limit, seconds }: { limit: number, seconds: number }
): Promise<UnderWay[]> {
  return database.company(companyId, async (queries) => {
    const { rows } = await sql<UnderWay>`select number, dispatch.status,
        fed_at > ${database.now} - make_interval(secs => ${seconds}) as recent
      from batch_rows as one join dispatches as dispatch using (company_id, dispatch_id)
      where one.company_id = ${companyId} and batch_id = ${batchId} and state in ('handing', 'running') and state = 'running'
      order by number limit ${limit}`.execute(queries)
    return rows
  })
}

/** The dispatches of a batch that wait in the queue and of which nothing has begun, up to a number of them. */
export async function listNotBegun (database: Database, { companyId, batchId }: BatchRef, limit: number): Promise<string[]> {
  return database.company(companyId, async (queries) => {
    const { rows } = await sql<{ dispatch_id: string }>`select dispatch_id
      from batch_rows as one join dispatches as dispatch using (company_id, dispatch_id)
      where one.company_id = ${companyId} and batch_id = ${batchId} and state in ('handing', 'running') and state = 'running'
        and dispatch.status = 'queued' and dispatch.run_id is null and not exists (
          select from steps where steps.dispatch_id = dispatch.dispatch_id and steps.company_id = one.company_id
            and (tries > 0 or status not in ('planned', 'waiting')))
      order by number limit ${limit}`.execute(queries)
    return rows.map(({ dispatch_id: dispatchId }) => dispatchId)
  })
}

/** How many rows of the company's other batches are under way and count as such. */
export async function countElsewhere (database: Database, { companyId, batchId }: BatchRef, seconds: number): Promise<number> {
  return database.company(companyId, async (queries) => {
    const { rows: [counted] } = await sql<{ rows: number }>`select count(*)::integer as rows
      from batch_rows as one left join dispatches as dispatch using (company_id, dispatch_id)
      where one.company_id = ${companyId} and batch_id <> ${batchId} and state in ('handing', 'running')
        and (dispatch.status is distinct from 'queued' or fed_at > ${database.now} - make_interval(secs => ${seconds}))`.execute(queries)
    return counted?.rows ?? 0
  })
}

/** The dispatch of an idempotency key, where there is one. */
export async function dispatchOf (database: Database, companyId: number, key: string): Promise<string | undefined> {
  const row = await database.company(companyId,
    (queries) =>
      queries.selectFrom('idempotency_keys').select('dispatch_id').where('company_id', '=', companyId).where('key', '=', key)
        .executeTakeFirst())
  return row?.dispatch_id
}

/** The free credits of a company. */
export async function freeCredits (database: Database, companyId: number): Promise<number> {
  const row = await database.company(companyId,
    (queries) => queries.selectFrom('credits').select(['balance', 'held']).where('company_id', '=', companyId).executeTakeFirst())
  return row === undefined ? 0 : Number(row.balance) - Number(row.held)
}

/** How a batch goes on. `reported`: the tenth of which a callback tells. */
export type Progress = {
  from: readonly BatchRow['status'][]
  status?: BatchRow['status']
  problem?: string
  checked?: true
  ended?: true
  closed?: true
  reported?: number
}

/** Lets a batch go on to another status, and tells of it in the same transaction. Undefined where it was changed meanwhile. */
export async function advanceBatch (
  database: Database,
  ref: BatchRef,
  progress: Progress,
  tell: (queries: Awaited<ReturnType<typeof asOwner>>, batch: BatchRow) => Promise<void>
): Promise<BatchRow | undefined> {
  return database.company(ref.companyId, async (queries) => {
    const batch = await advanceBatchIn(database, queries, ref, progress)
    if (batch !== undefined) await tell(await asOwner(queries), batch)
    return batch
  })
}

/** The same in a transaction, without telling of it. */
export async function advanceBatchIn (
  database: Database,
  queries: CompanyQueries,
  { companyId, batchId }: BatchRef,
  { from, status, problem, checked, ended, closed, reported }: Progress
): Promise<BatchRow | undefined> {
  const batch = await tablesIn(queries).updateTable('batches').set({
    ...status === undefined ? {} : { status },
    ...problem === undefined ? {} : { problem },
    ...checked === undefined ? {} : { checked_at: database.now },
    ...ended === undefined ? {} : { ended_at: database.now },
    ...closed === undefined ? {} : { is_open: false },
    ...reported === undefined ? {} : { told: reported }
  }).where('company_id', '=', companyId).where('batch_id', '=', batchId).where('status', 'in', from)
    // A change that came meanwhile is looked at again.
    .$if(closed !== undefined && status === undefined, (query) => query.where('running', '=', 0).where('handing', '=', 0))
    .returning(columns).executeTakeFirst()
  if (batch !== undefined && (status !== undefined || closed !== undefined)) {
    await holdBack(queries, { companyId, batchId }, batch.status === 'paused')
  }
  return batch
}
