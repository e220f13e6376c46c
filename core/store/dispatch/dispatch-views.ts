import type { EventKind } from '@dispatch/contract'
import type { CompanyQueries, Database } from '@dispatch/database'
import { columns, type Tables } from '@dispatch/tables'
import { type Selectable, sql } from 'kysely'
import { type DispatchFilter, type DispatchPage, searchDispatches } from './dispatch-search.ts'

export type DispatchRow = Selectable<Tables['dispatches']>
export type StepRow = Selectable<Tables['steps']>
export type DocumentRow = Selectable<Tables['documents']>
export type EventRow = Selectable<Tables['events']>

/** A dispatch with its steps in order, each with its document and with the steps that go on with what it left. */
export type DispatchRecord = DispatchRow & { steps: StepRecord[] }
export type StepRecord = StepRow & { document: DocumentRow | undefined, remaining: StepRow[] }

/** The columns of a row of `dispatches` that is read whole. */
export const dispatchColumns = columns.dispatches

/** One dispatch of the company, or undefined. */
export async function findDispatch (database: Database, companyId: number, dispatchId: string): Promise<DispatchRecord | undefined> {
  return database.snapshot(companyId, (queries) => readDispatch(queries, companyId, dispatchId))
}

/** One dispatch of the company as a transaction sees it, or undefined. */
export async function readDispatch (queries: CompanyQueries, companyId: number, dispatchId: string): Promise<DispatchRecord | undefined> {
  const row = await queries.selectFrom('dispatches').select(columns.dispatches).where('company_id', '=', companyId).where('dispatch_id',
    '=', dispatchId)
    .executeTakeFirst()
  return row === undefined ? undefined : (await withSteps(queries, [row]))[0]
}

/** A page of the company's dispatches, the newest first. Ids grow with time, so the last id of a page is its cursor. */
export async function listDispatches (
  database: Database,
  companyId: number,
  filter: DispatchFilter,
  page: DispatchPage
): Promise<DispatchRecord[]> {
  return database.reading(companyId, async (queries) => withSteps(queries, await searchDispatches(queries, companyId, filter, page)))
}

/** The steps and documents of dispatches, with them. */
export async function withSteps (queries: Pick<CompanyQueries, 'selectFrom'>, rows: readonly DispatchRow[]): Promise<DispatchRecord[]> {
  if (rows.length === 0) return []
  const ids = rows.map((row) => row.dispatch_id)
  const companyIds = [...new Set(rows.map((row) => row.company_id))]
  const steps = await queries.selectFrom('steps').select(columns.steps).where('company_id', 'in', companyIds).where('dispatch_id', 'in',
    ids)
    .orderBy(
      'position'
    ).execute()
  const documents = steps.every((step) => step.document_id === null) ?
    [] :
    await queries.selectFrom('documents').select(columns.documents).where('company_id', 'in', companyIds).where(
      'dispatch_id',
      'in',
      ids
    )
      .execute()
  return rows.map((row) => ({
    ...row,
    steps: steps.filter((step) => step.dispatch_id === row.dispatch_id && step.rest_of === null)
      .map((step) => ({
        ...step,
        document: documents.find((document) => document.document_id === step.document_id),
        remaining: steps.filter((rest) => rest.rest_of === step.step_id)
      }))
  }))
}

/**
 * Seconds since a step became uncertain (`doubted`), since the end of its last call, which may be a repeated one (`sinceCall`), and since
 * the first call that may have been accepted (`sinceFirst`): earlier, where the database was restored.
 */
export type SecondsUncertain = { doubted: number, sinceCall: number, sinceFirst: number }

/** How long a step has been uncertain; 0 where it is not. */
export async function secondsUncertain (
  database: Database,
  { companyId, stepId }: { companyId: number, stepId: string }
): Promise<SecondsUncertain> {
  const lastEnd = sql`(select max(answered_at) from attempts where step_id = ${stepId} and company_id = ${companyId})`
  const { rows: [step] } = await database.company(companyId, (queries) =>
    sql<SecondsUncertain>`
    select extract(epoch from ${database.now} - uncertain_at)::float as doubted, extract(epoch
      from ${database.now} - greatest(uncertain_at, ${lastEnd}))::float as "sinceCall",
      extract(epoch from ${database.now} - least(uncertain_at, restored_to))::float as "sinceFirst"
    from steps where step_id = ${stepId} and company_id = ${companyId} and uncertain_at is not null`.execute(queries))
  return step ?? { doubted: 0, sinceCall: 0, sinceFirst: 0 }
}

/** A page of a dispatch's timeline, the oldest first. */
export async function listEvents (
  database: Database,
  companyId: number,
  dispatchId: string,
  { limit, after, without = [] }: { limit: number, after?: string, without?: readonly EventKind[] }
): Promise<EventRow[]> {
  return database.company(companyId, (queries) =>
    queries.selectFrom('events').select(columns.events)
      .where('company_id', '=', companyId).where('dispatch_id', '=', dispatchId)
      .$if(without.length > 0, (query) => query.where('kind', 'not in', without))
      .$if(after !== undefined, (query) => query.where('event_id', '>', after ?? ''))
      .orderBy('event_id').limit(limit).execute())
}

/** How long a key is kept after the final state of its dispatch; one in doubt is in no final state. */
export const keyKeptFor = '24 hours'

/** The dispatch that an idempotency key is bound to. A key whose time is over is forgotten here. */
export async function findIdempotencyKey (
  database: Database,
  companyId: number,
  key: string
): Promise<{ fingerprint: string, dispatchId: string } | undefined> {
  return database.company(companyId, async (queries) => {
    const row = await queries.selectFrom('idempotency_keys').innerJoin('dispatches', 'dispatches.dispatch_id',
      'idempotency_keys.dispatch_id')
      .select([
        'fingerprint',
        'dispatches.dispatch_id',
        sql<boolean>`status <> 'uncertain' and coalesce(finished_at + ${keyKeptFor}::interval < ${database.now}, false)`.as('expired')
      ])
      .where('idempotency_keys.company_id', '=', companyId).where('key', '=', key).executeTakeFirst()
    if (row === undefined) return undefined
    if (!row.expired) return { fingerprint: row.fingerprint, dispatchId: row.dispatch_id }
    await queries.deleteFrom('idempotency_keys').where('company_id', '=', companyId).where('key', '=', key).where('dispatch_id', '=',
      row.dispatch_id).execute()
    return undefined
  })
}

/** One document of the company, or undefined. */
export async function findDocument (database: Database, companyId: number, documentId: string): Promise<DocumentRow | undefined> {
  return database.company(companyId, (queries) =>
    queries.selectFrom('documents').select(columns.documents)
      .where('company_id', '=', companyId).where('document_id', '=', documentId).executeTakeFirst())
}

/** A document by its id alone, for a link whose signature has been checked: the link stands in for the credentials. */
export async function findLinkedDocument ({ owner }: Database, documentId: string): Promise<DocumentRow | undefined> {
  return owner.selectFrom('documents').select(columns.documents).where('document_id', '=', documentId).executeTakeFirst()
}
