import type { DeferredState, DispatchStatus, ErrorWord, searchedStepStatuses } from '@dispatch/contract'
import { type CompanyQueries, firstIdAt, idSkew, timeOf } from '@dispatch/database'
import { columnsOf, type Tables } from '@dispatch/tables'
import { type RawBuilder, type Selectable, sql } from 'kysely'
import { hasDeferred } from './deferred-states.ts'

type DispatchRow = Selectable<Tables['dispatches']>

/** What dispatches are filtered by; times are inclusive from, exclusive to. */
export type DispatchFilter = {
  status?: DispatchStatus
  /** Only tests, or none. */
  test?: boolean
  /** Only those that wait for the time at which they are to be sent, or none of them. */
  scheduled?: boolean
  userId?: number
  service?: string
  /** Has no step of another service. */
  services?: readonly string[]
  /** Has a deferred step in this state. */
  deferred?: DeferredState
  /** Has a step of this provider, in this state, with this error, with this delivery status, with this mark: one step with all of it. */
  providerName?: string
  stepStatus?: typeof searchedStepStatuses[number]
  /** It is an error of the service, where one is given; that of a deferred step does not stand in the path. */
  error?: ErrorWord
  deliveryStatus?: string
  /** What its vendor has told of it besides. */
  deliveryMark?: string
  /** An id, number or recipient, in full. `partial`: where no id and no number is this, also a part of a number or a recipient. */
  search?: string
  partial?: boolean
  documentNumber?: string
  /** Case does not matter. */
  recipient?: string
  metadata?: Readonly<Record<string, string>>
  from?: Date
  to?: Date
}

export type DispatchPage = { limit: number, after?: string }

type Condition = RawBuilder<unknown>
/** A query of ids of dispatches, the newest first. */
type Ids = RawBuilder<unknown>
/** `failing`: the steps with the error, in place of all. */
type Sought = DispatchFilter & { failing?: Condition | undefined }

/** The rows of a page of the company's dispatches, the newest first. Each way in which a text may name them has an index, and a page. */
export async function searchDispatches (
  queries: CompanyQueries,
  companyId: number,
  { services, search, partial = false, ...others }: DispatchFilter,
  page: DispatchPage
): Promise<DispatchRow[]> {
  const filter: Sought = { ...others, failing: failingSteps(companyId, { ...others, ...search !== undefined && { search } }, page) }
  const ofError = filter.error !== undefined
  const service = ofError ? undefined : filter.service
  const paths = service === undefined && services === undefined
    ? undefined
    : (await pathsOf(queries, companyId)).filter((path) => isPathOf(path.split('/'), service, services))
  if (paths?.length === 0) return []
  const among = [sql`dispatches.company_id = ${companyId}`, ...conditions(companyId, filter, page), ...ofServices(services)]
  const found = async (ways: readonly Condition[]): Promise<DispatchRow[]> => {
    const pages = ways.map((way) => {
      const all = [way, ...among]
      // The index of errors, read once for each path, would be read as often.
      return paths === undefined || ofError ? newest(all, filter, page) : newestOfPaths(paths, all, filter, page)
    })
    // Ids first: where two filters find many each, and few together, indexes alone tell so, without the rows.
    const { rows } = await sql<DispatchRow>`select ${columnsOf('dispatches')} from dispatches where company_id = ${companyId}
      and dispatch_id = any (array(${newestOfAll(pages, page)})) order by dispatch_id desc`.execute(queries)
    return rows
  }
  if (search === undefined) return await found([sql`true`])
  const named = [sql`dispatches.document_number = ${search}`, isAmong(await idsOf(queries, companyId, search))]
  const ofRecipient = sql`dispatches.recipient_key = lower(${search})`
  if (!partial) return await found([...named, ofRecipient])
  const exact = await found(named)
  if (exact.length > 0) return exact
  const max = 2 * page.limit
  const first = await withPart(queries, search, { ...page, limit: max })
  const rows = await found([ofRecipient, isAmong(first)])
  if (rows.length === page.limit || first.length < max) return rows
  return await found([ofRecipient, isAmong(await withPart(queries, search, { ...page, limit: maxWithPart }))])
}

function isPathOf (path: readonly string[], service: string | undefined, services: readonly string[] | undefined): boolean {
  return (service === undefined || path.includes(service)) && path.every((name) => services?.includes(name) ?? true)
}

/** The services of deferred steps do not stand in the path. */
function ofServices (services: readonly string[] | undefined): Condition[] {
  return services === undefined ? [] : [sql`not exists (select from steps as other where other.company_id = dispatches.company_id
    and other.dispatch_id = dispatches.dispatch_id and other.service <> all (${services}::text[]))`]
}

function newest (among: readonly Condition[], { failing, ...filter }: Sought, { limit }: DispatchPage): Ids {
  const ofStep = stepConditions(filter)
  if (ofStep.length === 0) {
    return sql`select dispatch_id from dispatches where ${sql.join(among, sql` and `)} order by dispatch_id desc limit ${limit}`
  }
  // A join, so that the steps too can be read from the newest on, by their own index.
  return sql`select distinct dispatches.dispatch_id from dispatches
    join ${failing ?? sql`steps`} on steps.company_id = dispatches.company_id and steps.dispatch_id = dispatches.dispatch_id
    where ${sql.join([...among, ...ofStep], sql` and `)} order by dispatches.dispatch_id desc limit ${limit}`
}

/**
 * The steps with an error, the newest first, by its index. They are read apart: the planner, which does not know how many have which error,
 * would read all that have any. Undefined without an error, and where something else names few dispatches.
 */
function failingSteps (companyId: number, filter: DispatchFilter, { after }: DispatchPage): Condition | undefined {
  const { error, documentNumber, recipient, search, metadata = {}, from, to } = filter
  if (error === undefined || (documentNumber ?? recipient ?? search) !== undefined || Object.keys(metadata).length > 0) return undefined
  const within = idsWithin(sql`dispatch_id`, { from, to, after })
  const conditions = [sql`company_id = ${companyId}`, sql`word = ${error}`, ...within]
  return sql`(select company_id, dispatch_id, service, provider_code, status, delivery_status, marks, error from step_errors
    where ${sql.join(conditions, sql` and `)} order by dispatch_id desc offset 0) as steps`
}

type Within = { from?: Date | undefined, to?: Date | undefined, after?: string | undefined }

/** Ids of what was created from one time on and before another; those of a page end behind the last one. */
function idsWithin (id: Condition, { from, to, after }: Within): Condition[] {
  return [
    ...(from === undefined ? [] : [sql`${id} >= ${firstIdAt(from.getTime() - idSkew)}`]),
    ...(to === undefined ? [] : [sql`${id} < ${firstIdAt(to.getTime() + idSkew)}`]),
    ...(after === undefined ? [] : [sql`${id} < ${after}`])
  ]
}

/** Each path has its own page, by its index; the newest of them are the page. */
function newestOfPaths (paths: readonly string[], among: readonly Condition[], filter: Sought, page: DispatchPage): Ids {
  const ofPath = newest([sql`dispatches.path = paths.path`, ...among], filter, page)
  return sql`select dispatch_id from unnest(${paths}::text[]) as paths (path), lateral (${ofPath}) as found
    order by dispatch_id desc limit ${page.limit}`
}

/** The newest of several pages; a dispatch that stands on two of them stands once on theirs. */
function newestOfAll (pages: readonly Ids[], { limit }: DispatchPage): Ids {
  const [only, ...more] = pages
  if (only !== undefined && more.length === 0) return only
  const all = sql.join(pages.map((one) => sql`(${one})`), sql` union all `)
  return sql`select distinct dispatch_id from (${all}) as found order by dispatch_id desc limit ${limit}`
}

const isAmong = (ids: readonly string[]): Condition => sql`dispatches.dispatch_id = any (${ids}::uuid[])`

/** Of a part that many numbers or recipients have, so many are looked at where other filters leave too few of the first. */
const maxWithPart = 2_000

/** The newest dispatches with a text in their number or recipient; none where the database has no index for that. */
async function withPart (queries: CompanyQueries, part: string, { after, limit }: DispatchPage): Promise<string[]> {
  const { rows: [found] } = await sql<{ ids: string[] }>`select dispatches_with(${part}, ${after ?? null}, ${limit}) as ids`.execute(
    queries
  )
  return found?.ids ?? []
}

const uuid = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/i

/** Of one id at a vendor, at most so many dispatches are found. */
const maxOfVendor = 100

/** By how many milliseconds a dispatch may be older or younger than what the log says of its request. */
const aroundRequest = 10_000

/** The dispatches with this id, idempotency key, id at the vendor, or id of their request. */
async function idsOf (queries: CompanyQueries, companyId: number, text: string): Promise<string[]> {
  const codes = await distinctOf(queries, 'steps', 'provider_code', companyId)
  const requests = await queries.selectFrom('request_log').select(['entry_id', 'milliseconds']).where('company_id', '=', companyId)
    .where('request_id', '=', text).orderBy('entry_id', 'desc').limit(1).execute()
  const ofRequests = requests.map(({ entry_id: id, milliseconds }) => {
    const at = timeOf(id).getTime()
    const around = Math.ceil(milliseconds) + aroundRequest
    return sql`union all select dispatch_id from dispatches where company_id = ${companyId} and request_id = ${text}
      and dispatch_id >= ${firstIdAt(at - around)} and dispatch_id < ${firstIdAt(at + around)}`
  })
  const { rows } = await sql<{ dispatch_id: string }>`
    select dispatch_id from idempotency_keys where company_id = ${companyId} and key = ${text}
    union all (select dispatch_id from steps where company_id = ${companyId} and provider_code = any (${codes}::text[])
      and remote_id = ${text} order by dispatch_id desc limit ${maxOfVendor})
    ${sql.join(ofRequests, sql` `)}`.execute(queries)
  return [...(uuid.test(text) ? [text] : []), ...rows.map((row) => row.dispatch_id)]
}

/** The paths that the company has used. */
async function pathsOf (queries: CompanyQueries, companyId: number): Promise<string[]> {
  return await distinctOf(queries, 'dispatches', 'path', companyId)
}

/** The values of an indexed column among the company's rows. Each takes one look at the index, however many rows there are. */
async function distinctOf (queries: CompanyQueries, table: string, column: string, companyId: number): Promise<string[]> {
  const [from, value] = [sql.table(table), sql.ref(column)]
  const next = (beyond: Condition): Condition =>
    sql`select min(${value}) as value from ${from} where company_id = ${companyId} and ${beyond}`
  const { rows } = await sql<{ value: string }>`with recursive used as (
      ${next(sql`true`)} union all select (${next(sql`${value} > used.value`)}) from used where value is not null
    ) select value from used where value is not null`.execute(queries)
  return rows.map((row) => row.value)
}

/** Nothing of it has begun, and its time has not come. */
const isWaiting = sql`(dispatches.status = 'queued' and dispatches.schedule->>'dueAt' is not null and not exists (select from steps
  where steps.company_id = dispatches.company_id and steps.dispatch_id = dispatches.dispatch_id and tries > 0))`

function conditions (
  companyId: number,
  { status, test, scheduled, userId, deferred, documentNumber, recipient, metadata = {}, from, to }: DispatchFilter,
  { after }: DispatchPage
): Condition[] {
  const hasPair = ([name, value]: [string, string]): Condition =>
    sql`dispatches.dispatch_id in (select dispatch_id from dispatch_metadata where company_id = ${companyId}
      and pair = metadata_pair(${name}, ${value}))`
  return [
    ...(test === undefined ? [] : [test ? sql`dispatches.test` : sql`not dispatches.test`]),
    ...(scheduled === undefined ? [] : [scheduled ? isWaiting : sql`not ${isWaiting}`]),
    ...(status === undefined ? [] : [sql`dispatches.status = ${status}`]),
    ...(userId === undefined ? [] : [sql`dispatches.user_id = ${userId}`]),
    ...(deferred === undefined ? [] : [hasDeferred(deferred)]),
    ...(documentNumber === undefined ? [] : [sql`document_number = ${documentNumber}`]),
    ...(recipient === undefined ? [] : [sql`recipient_key = lower(${recipient})`]),
    ...Object.entries(metadata).map(hasPair),
    ...idsWithin(sql`dispatches.dispatch_id`, { from, to, after }),
    ...(from === undefined ? [] : [sql`created_at >= ${from}`]),
    ...(to === undefined ? [] : [sql`created_at < ${to}`])
  ]
}

const hasFailed = sql`steps.status in ('rejected', 'unavailable')
  and (steps.status = 'rejected' or dispatches.status in ('failed', 'partial'))`

function stepConditions ({ service, providerName, stepStatus, error, deliveryStatus, deliveryMark }: DispatchFilter): Condition[] {
  return [
    ...(providerName === undefined ? [] : [sql`steps.provider_code = ${providerName}`]),
    ...(stepStatus === undefined ? [] : [stepStatus === 'failed' ? hasFailed : sql`steps.status = ${stepStatus}`]),
    ...(error === undefined ? [] : [sql`steps.error->>'word' = ${error}`]),
    ...(error === undefined || service === undefined ? [] : [sql`steps.service = ${service}`]),
    ...(deliveryStatus === undefined ? [] : [sql`steps.delivery_status = ${deliveryStatus}`]),
    // The first condition is that of the index.
    ...(deliveryMark === undefined ? [] : [sql`steps.marks is not null and ${deliveryMark} = any (steps.marks)`])
  ]
}
