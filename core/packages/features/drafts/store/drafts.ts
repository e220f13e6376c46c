import type { UserRef } from '@dispatch/accounts'
import type { JsonObject } from '@dispatch/common'
import { filesNamedIn, type FileUse, type Holder, tableHolder } from '@dispatch/core'
import type { CompanyQueries, Database } from '@dispatch/database'
import { sealed } from '@dispatch/tables'
import { type ColumnType, type ExpressionBuilder, type ExpressionWrapper, type Selectable, sql, type SqlBool } from 'kysely'

type Tables = {
  drafts: {
    draft_id: string
    company_id: number
    user_id: number
    service: string
    request: ColumnType<JsonObject, string, string>
    sandbox: boolean
    shared: boolean
    dispatch_id: string | null
    created_at: Date
    updated_at: Date
  }
}

export type DraftRow = Selectable<Tables['drafts']>
export type SummaryRow = Omit<DraftRow, 'request'>
/** `request`: null where it is too large to be read for a list. */
export type ListedRow = SummaryRow & { request: JsonObject | null }

/** What is written of a draft, at a time. What is absent stays as it is. */
export type Written = Pick<DraftRow, 'service' | 'request' | 'sandbox'> & { shared?: boolean, dispatchId?: string | null, at: Date }

const summary = ['draft_id', 'company_id', 'user_id', 'service', 'sandbox', 'shared', 'dispatch_id', 'created_at', 'updated_at'] as const

/** How many drafts a person keeps; the one that was written to least lately goes first, and of those the sent ones. */
export const maxKept = 200
/** How many of a list are shown. */
const maxListed = 100
/** Bytes of a request, as it stands in its column, up to which it is read for a list: one of 64 KiB has a third more where it is sealed. */
const maxRead = 90_000

/** The drafts of a person and those that others of the company share, the last written first. */
export async function listDrafts (database: Database, reader: UserRef, { sandbox }: { sandbox?: boolean }): Promise<ListedRow[]> {
  return database.reading(reader.companyId,
    (queries) =>
      tablesOf(queries).selectFrom((from) =>
        from.selectFrom('drafts').select([...summary, 'request']).where('company_id', '=', reader.companyId).where(visibleTo(reader))
          .$if(sandbox !== undefined, (query) => query.where('sandbox', '=', sandbox ?? false))
          .orderBy('updated_at', 'desc').limit(maxListed).as('listed')
      ).select(summary)
        // What is stored may be compressed: what is small there need not be so when it is read.
        .select(sql<JsonObject | null>`case when pg_column_size(request) < ${maxRead} and octet_length(request::text) < ${maxRead}
        then request end`.as('request'))
        .orderBy('updated_at', 'desc').execute())
}

/** The names of templates, as far as the company may use them. */
export async function templateNames (database: Database, companyId: number, ids: readonly number[]): Promise<Map<number, string>> {
  if (ids.length === 0) return new Map()
  const { rows } = await database.reading(companyId,
    (queries) =>
      sql<{ id: number, name: string }>`select template_id as id, name from templates
      where template_id = any (${[...ids]}::integer[]) and (company_id = ${companyId} or company_id is null)`.execute(queries))
  return new Map(rows.map(({ id, name }) => [id, name]))
}

/** A draft that a person may read. */
export async function readDraft (database: Database, reader: UserRef, draftId: string): Promise<DraftRow | undefined> {
  return database.company(reader.companyId,
    (queries) =>
      tablesOf(queries).selectFrom('drafts').select([...summary, 'request']).where('company_id', '=', reader.companyId)
        .where('draft_id', '=', draftId).where(visibleTo(reader)).executeTakeFirst())
}

/** Writes a draft of a person, new or again. Undefined where somebody else has one with this id. */
export async function writeDraft (database: Database, author: UserRef, draftId: string, written: Written): Promise<DraftRow | undefined> {
  const { companyId, userId } = author
  return database.company(companyId, async (queries) => {
    const { service, request, sandbox, shared, dispatchId, at } = written
    const said = {
      service,
      request: JSON.stringify(await sealed(queries, companyId, request)),
      sandbox,
      ...shared !== undefined && { shared },
      ...dispatchId !== undefined && { dispatch_id: await dispatchOf(queries, companyId, dispatchId) },
      updated_at: at
    }
    const row = await tablesOf(queries).insertInto('drafts')
      .values({ draft_id: draftId, company_id: companyId, user_id: userId, shared: false, created_at: at, ...said })
      .onConflict((conflict) => conflict.columns(['company_id', 'draft_id']).doUpdateSet(said).where('drafts.user_id', '=', userId))
      .returning([...summary, 'request']).executeTakeFirst()
    if (row?.created_at.getTime() === at.getTime()) await removeOldest(queries, author)
    return row
  })
}

/** The id of a dispatch, where it is one of the company. */
async function dispatchOf (queries: CompanyQueries, companyId: number, dispatchId: string | null): Promise<string | null> {
  if (dispatchId === null) return null
  const found = await queries.selectFrom('dispatches').select('dispatch_id').where('company_id', '=', companyId).where('dispatch_id', '=',
    dispatchId).executeTakeFirst()
  return found?.dispatch_id ?? null
}

async function removeOldest (queries: CompanyQueries, { companyId, userId }: UserRef): Promise<void> {
  const own = tablesOf(queries)
  const beyond = own.selectFrom('drafts').select('draft_id').where('company_id', '=', companyId).where('user_id', '=', userId)
    .orderBy('dispatch_id', (order) => order.desc().nullsFirst()).orderBy('updated_at', 'desc').offset(maxKept)
  await own.deleteFrom('drafts').where('company_id', '=', companyId).where('user_id', '=', userId).where('draft_id', 'in', beyond).execute()
}

/** Removes a draft of a person. False where they have none with this id. */
export async function removeDraft (database: Database, { companyId, userId }: UserRef, draftId: string): Promise<boolean> {
  const { numDeletedRows } = await database.company(companyId,
    (queries) =>
      tablesOf(queries).deleteFrom('drafts').where('company_id', '=', companyId).where('draft_id', '=', draftId).where('user_id', '=',
        userId)
        .executeTakeFirstOrThrow())
  return numDeletedRows === 1n
}

/** Removes the drafts of all companies that nobody has written to since a time: those that were sent, and the others. */
export async function removeOldDrafts ({ owner }: Database, before: { sent: Date, unsent: Date }): Promise<void> {
  await owner.$extendTables<Tables>().deleteFrom('drafts').where((where) =>
    where.or([
      where('updated_at', '<', before.unsent),
      where.and([where('dispatch_id', 'is not', null), where('updated_at', '<', before.sent)])
    ])
  ).execute()
}

/** What somebody has begun to write to a person goes. */
export function draftsHolder (database: Database): Holder {
  return tableHolder(database, { kind: 'drafts', table: 'drafts', key: sql`draft_id`, type: 'uuid' })
}

/** The files of drafts that are not sent. */
export function draftFileUse (database: Database): FileUse {
  return (companyId, fileIds, limit) =>
    database.company(companyId, (queries) =>
      filesNamedIn(queries, sql`select draft_id, request from drafts where company_id = ${companyId} and dispatch_id is null`, {
        fileIds,
        limit
      }))
}

/** A row of a company, for the tests of the walls between companies. */
export async function fillDrafts (queries: Database['owner'], companyId: number): Promise<void> {
  const { user_id: userId } = await queries.selectFrom('users').select('user_id').where('company_id', '=', companyId)
    .executeTakeFirstOrThrow()
  const at = new Date()
  await queries.$extendTables<Tables>().insertInto('drafts').values({
    draft_id: crypto.randomUUID(),
    company_id: companyId,
    user_id: userId,
    service: 'invoicing/email',
    request: '{}',
    sandbox: false,
    shared: true,
    dispatch_id: null,
    created_at: at,
    updated_at: at
  }).execute()
}

const tablesOf = (queries: CompanyQueries) => queries.$extendTables<Tables>()

function visibleTo ({ userId }: UserRef) {
  return (where: ExpressionBuilder<Tables, 'drafts'>): ExpressionWrapper<Tables, 'drafts', SqlBool> =>
    where.or([where('user_id', '=', userId), where('shared', '=', true)])
}
