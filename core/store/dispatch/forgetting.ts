import { returningServices } from '@dispatch/contract'
import { type Database, firstIdAt, idSkew, type OwnerQueries } from '@dispatch/database'
import { type RawBuilder, sql } from 'kysely'
import type { DispatchRows } from './dispatch-rows.ts'
import type { RetentionBatch } from './retention.ts'

/** `hopeless`: nobody waits any longer for the events of dispatches that are older. `dispatchRows`: what features keep of dispatches. */
type Forgetting = RetentionBatch & { hopeless: Date, dispatchRows: readonly DispatchRows[] }

/**
 * Deletes dispatches that were created and have ended before that time, with all that is about them alone: steps, attempts, timeline,
 * metadata, the rows of their documents, what features keep. The ledger and the audit log stay; how many there were stays in
 * `dispatch_counts`. A dispatch stays as long as something of it is unfinished, or a document of it is still stored. Answers how many were
 * deleted.
 */
export async function forgetDispatches ({ owner }: Pick<Database, 'owner'>, forgetting: Forgetting): Promise<number> {
  return owner.transaction().execute(async (queries) => {
    const ids = await listFinished(queries, forgetting)
    if (ids.length === 0) return 0
    const theirs = sql`dispatch_id = any (${ids}::uuid[])`
    // Without it the timeline refuses.
    await sql`set local app.forgets = 'on'`.execute(queries)
    for (const rows of rowsOf(theirs, forgetting.dispatchRows)) await sql`delete from ${rows}`.execute(queries)
    await sql`with forgotten as (delete from dispatches where ${theirs} returning company_id, created_at, services, status, test)
      insert into dispatch_counts (company_id, hour, service, status, test, count)
      select company_id, date_trunc('hour', created_at, 'UTC'), service, status, test, count(*)
      from forgotten cross join unnest(services) as service group by 1, 2, 3, 4, 5
      on conflict (company_id, hour, service, status, test) do update set count = dispatch_counts.count + excluded.count`.execute(queries)
    return ids.length
  })
}

/** Deletes the oldest dispatches of a company with all that is about them alone, whatever they are; answers how many. */
export async function deleteDispatches (
  queries: OwnerQueries,
  companyId: number,
  { limit, dispatchRows }: { limit: number, dispatchRows: readonly DispatchRows[] }
): Promise<number> {
  const found = await queries.selectFrom('dispatches').select('dispatch_id').where('company_id', '=', companyId).orderBy('dispatch_id')
    .limit(limit).forUpdate().execute()
  if (found.length === 0) return 0
  const theirs = sql`dispatch_id = any (${found.map((row) => row.dispatch_id)}::uuid[])`
  await sql`set local app.forgets = 'on'`.execute(queries)
  for (const rows of rowsOf(theirs, dispatchRows)) await sql`delete from ${rows}`.execute(queries)
  await sql`delete from dispatches where ${theirs}`.execute(queries)
  return found.length
}

/** The oldest of them, locked. Whoever is just changed comes later. */
async function listFinished (queries: OwnerQueries, { before, hopeless, limit, dispatchRows }: Forgetting): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    select dispatch_id as id from dispatches left join lateral (${unfinished(hopeless, dispatchRows)} limit 1) as unfinished on true
    where dispatch_id < ${firstIdAt(before.getTime() + idSkew)} and created_at < ${before} and finished_at < ${before}
      and status in ('succeeded', 'failed', 'partial', 'cancelled') and run_id is null and open is null
    order by dispatch_id limit ${limit} for update of dispatches skip locked`.execute(queries)
  return rows.map(({ id }) => id)
}

/** A row for each thing of a row of `dispatches` that is unfinished, by the indexes that begin with the id. */
function unfinished (hopeless: Date, dispatchRows: readonly DispatchRows[]): RawBuilder<unknown> {
  return sql`
    select true as open from steps where steps.dispatch_id = dispatches.dispatch_id
      and (held > 0 or steps.status in ('calling', 'uncertain') or next_look_at is not null or steps.next_try_at is not null
        or cancel_run is not null or dispatches.created_at >= ${hopeless}
        and (steps.status = 'waiting' or service in (${
    sql.join(returningServices)
  }) and steps.status = 'accepted' and not delivery_settled))
    union all select true from documents where documents.dispatch_id = dispatches.dispatch_id and removed_at is null${
    sql.join(dispatchRows.map((rows) => sql` union all ${rows.unfinished}`), sql``)
  }`
}

/** What is deleted with dispatches, what refers to others first. */
function rowsOf (theirs: RawBuilder<unknown>, dispatchRows: readonly DispatchRows[]): RawBuilder<unknown>[] {
  // Keys are found by their time, which is that of the dispatch.
  const lastAt = sql`(select max(created_at) from dispatches where ${theirs})`
  return [
    sql`attempts where step_id in (select step_id from steps where ${theirs})`,
    ...dispatchRows.flatMap((rows) => rows.rowsOf(theirs)),
    sql`idempotency_keys where created_at <= ${lastAt} and ${theirs}`,
    sql`dispatch_metadata where ${theirs}`,
    sql`steps where ${theirs}`,
    // After the steps: who adds to a timeline has a row of the dispatch or its step, and is waited for.
    sql`events where ${theirs}`,
    sql`documents where ${theirs}`
  ]
}
