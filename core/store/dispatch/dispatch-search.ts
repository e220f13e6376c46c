import { type RawBuilder, type Selectable, sql } from 'kysely'
import type { DeferredState, DispatchStatus } from '../../contract/states.ts'
import { columnsOf } from '../db/columns.ts'
import type { CompanyQueries } from '../db/database.ts'
import type { Tables } from '../db/schema.ts'
import { hasDeferred } from './deferred-states.ts'

type DispatchRow = Selectable<Tables['dispatches']>

/** What dispatches are filtered by; times are inclusive from, exclusive to. */
export type DispatchFilter = {
  status?: DispatchStatus
  /** Only tests. */
  test?: true
  service?: string
  /** Has a deferred step in this state. */
  deferred?: DeferredState
  documentNumber?: string
  /** Case does not matter. */
  recipient?: string
  metadata?: Readonly<Record<string, string>>
  from?: Date
  to?: Date
}

export type DispatchPage = { limit: number, after?: string }

/** The rows of a page of the company's dispatches, the newest first. */
export async function searchDispatches (
  queries: CompanyQueries,
  companyId: number,
  { service, ...filter }: DispatchFilter,
  page: DispatchPage
): Promise<DispatchRow[]> {
  const among = [sql`dispatches.company_id = ${companyId}`, ...conditions(companyId, filter, page)]
  const paths = service === undefined ? undefined : (await pathsOf(queries, companyId)).filter((path) => path.split('/').includes(service))
  const { rows } = await (paths === undefined ? newest(among, page) : newestOfPaths(paths, among, page)).execute(queries)
  return rows
}

function newest (among: readonly RawBuilder<unknown>[], { limit }: DispatchPage): RawBuilder<DispatchRow> {
  return sql<DispatchRow>`select ${columnsOf('dispatches')} from dispatches where ${sql.join(among, sql` and `)}
    order by dispatch_id desc limit ${limit}`
}

/** Each path has its own page, by its index; the newest of them are the page. */
function newestOfPaths (
  paths: readonly string[],
  among: readonly RawBuilder<unknown>[],
  page: DispatchPage
): RawBuilder<DispatchRow> {
  const ofPath = newest([sql`dispatches.path = paths.path`, ...among], page)
  return sql<DispatchRow>`select ${columnsOf('dispatches', 'found')} from unnest(${paths}::text[]) as paths (path),
    lateral (${ofPath}) as found order by dispatch_id desc limit ${page.limit}`
}

/** The paths that the company has used. Each takes one look at the index, however many dispatches it has. */
async function pathsOf (queries: CompanyQueries, companyId: number): Promise<string[]> {
  const next = (beyond: RawBuilder<unknown>): RawBuilder<unknown> =>
    sql`select min(path) as path from dispatches where company_id = ${companyId} and ${beyond}`
  const { rows } = await sql<{ path: string }>`with recursive paths as (
      ${next(sql`true`)} union all select (${next(sql`path > paths.path`)}) from paths where path is not null
    ) select path from paths where path is not null`.execute(queries)
  return rows.map(({ path }) => path)
}

function conditions (
  companyId: number,
  { status, test, deferred, documentNumber, recipient, metadata = {}, from, to }: DispatchFilter,
  { after }: DispatchPage
): RawBuilder<unknown>[] {
  const hasPair = ([name, value]: [string, string]): RawBuilder<unknown> =>
    sql`dispatches.dispatch_id in (select dispatch_id from dispatch_metadata where company_id = ${companyId}
      and pair = metadata_pair(${name}, ${value}))`
  return [
    ...(test === undefined ? [] : [sql`test`]),
    ...(status === undefined ? [] : [sql`status = ${status}`]),
    ...(deferred === undefined ? [] : [hasDeferred(deferred)]),
    ...(documentNumber === undefined ? [] : [sql`document_number = ${documentNumber}`]),
    ...(recipient === undefined ? [] : [sql`recipient_key = lower(${recipient})`]),
    ...Object.entries(metadata).map(hasPair),
    ...(from === undefined ? [] : [sql`dispatches.dispatch_id >= ${firstIdAt(from.getTime() - skew)} and created_at >= ${from}`]),
    ...(to === undefined ? [] : [sql`dispatches.dispatch_id < ${firstIdAt(to.getTime() + skew)} and created_at < ${to}`]),
    ...(after === undefined ? [] : [sql`dispatches.dispatch_id < ${after}`])
  ]
}

/** By how many milliseconds the clock that made an id may differ from that of the database. */
export const skew = 3_600_000

/** The lowest UUIDv7 of a millisecond (RFC 9562, 5.7). With it the index of ids is read from there on. */
export function firstIdAt (milliseconds: number): string {
  const digits = Math.max(0, milliseconds).toString(16).padStart(12, '0')
  return `${digits.slice(0, 8)}-${digits.slice(8)}-0000-0000-000000000000`
}
