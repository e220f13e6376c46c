import { deleteDispatches, type DispatchRows } from '@dispatch/core'
import { type Database, firstIdAt, type OwnerQueries } from '@dispatch/database'
import { Kysely, PostgresDialect, type RawBuilder, sql } from 'kysely'

type Owner = Pick<Database, 'owner'>
type Queries = Database['owner']

/** What a company has, and what is still under way: dispatches, and credits that they hold. Undefined where there is no such company. */
export async function countHeld ({ owner }: Owner, companyId: number): Promise<Held | undefined> {
  const { rows: [found] } = await sql<Held>`
    select name, disabled_at is not null as disabled, balance::float8 as credits, held::float8 as held,
      (select count(*)::integer from dispatches where dispatches.company_id = ${companyId}) as dispatches,
      (select count(*)::integer from (${goingOn(companyId)}) as going_on) as running,
      (select count(*)::integer from documents where documents.company_id = ${companyId} and removed_at is null) as documents,
      (select count(*)::integer from users where users.company_id = ${companyId}) as users
    from companies join credits using (company_id) where company_id = ${companyId}`.execute(owner)
  return found
}

/**
 * The dispatches that are not at their end, and those that have a step beside their path which is done or tried again, or in doubt. A call
 * itself is a run of its dispatch. Each has an index of its own: one condition with all of them would read all dispatches.
 */
function goingOn (companyId: number): RawBuilder<unknown> {
  return sql`select dispatch_id from dispatches where dispatches.company_id = ${companyId} and status in ('queued', 'running', 'uncertain')
    union select dispatch_id from dispatches where dispatches.company_id = ${companyId} and run_id is not null
    union select dispatch_id from steps where steps.company_id = ${companyId} and steps.next_try_at is not null
    union select dispatch_id from steps where steps.company_id = ${companyId} and steps.status = 'uncertain'
    union select dispatch_id from steps where steps.company_id = ${companyId} and deferred_on is not null and steps.status = 'calling'`
}

export type Held = {
  name: string
  disabled: boolean
  credits: number
  held: number
  dispatches: number
  /** How many of these are not surely at their end. */
  running: number
  documents: number
  users: number
}

/** Whether anything was deleted. `blocked`: of which tables not, because something refers to rows, or it took too long or was cancelled. */
export type DeletedRows = { deleted: boolean, blocked: readonly string[], locked: boolean }

/** `dispatchRows`: what features keep of dispatches. `note` records what was deleted, in the transaction that deletes it. */
export type Deleting = {
  limit: number
  dispatchRows: readonly DispatchRows[]
  note: (queries: OwnerQueries, table: string, rows: number) => Promise<void>
}

/**
 * What goes last, in one transaction with the company, and the numbers of changes, which tell other processes that something is gone and
 * hold nothing else.
 */
const last = new Set(['companies', 'data_keys', 'changes'])

/** Whose rows name their company, or a user of it. `indexed`: these are found without reading all of the table. */
type Table = { name: string, indexed: boolean, theirs: RawBuilder<unknown> }

/**
 * Deletes some rows of a company from each table whose index finds them, what refers to others first: dispatches with all that is about
 * them, then at most `limit` of each. All tables are found in the catalog of the database, so that no feature is left out.
 */
export async function deleteFoundRows ({ owner }: Owner, companyId: number, deleting: Deleting): Promise<DeletedRows> {
  const found = await deleteOldest(owner, companyId, deleting)
  if (found.deleted || found.locked) return found
  const tables = (await tablesOf(owner, companyId)).filter(({ indexed }) => indexed)
  return together(found, await deleteFrom(owner, tables, { ...deleting, max: deleting.limit }))
}

/**
 * Deletes all rows of a company that are left, from every table. Those without an index are read as a whole, so it has no limits of time;
 * aborting cancels it. Nothing is deleted any more once all are gone.
 */
export async function deleteAllRows (
  database: Pick<Database, 'session' | 'vital'>,
  companyId: number,
  { signal, ...deleting }: Deleting & { signal: AbortSignal }
): Promise<DeletedRows> {
  return withoutLimits(database, signal, async (owner) => {
    const found = await deleteOldest(owner, companyId, deleting)
    return found.deleted || found.locked
      ? found
      : together(found, await deleteFrom(owner, await tablesOf(owner, companyId), { ...deleting, signal }))
  })
}

async function deleteOldest (owner: Queries, companyId: number, { limit, dispatchRows, note }: Deleting): Promise<DeletedRows> {
  const deleting = { limit: Math.ceil(limit / 10), dispatchRows }
  return deleteSome(owner, 'dispatches', note, (queries) => deleteDispatches(queries, companyId, deleting))
}

/** `max`: rows of each table, unless all. */
async function deleteFrom (
  owner: Queries,
  tables: readonly Table[],
  { max, note, signal }: Pick<Deleting, 'note'> & { max?: number, signal?: AbortSignal }
): Promise<DeletedRows> {
  let all = nothing
  for (const { name, theirs } of tables) {
    if (signal?.aborted === true) return together(all, { ...nothing, blocked: [name] })
    const some = max === undefined
      ? theirs
      : sql`ctid = any (array(select ctid from ${sql.table(name)} as one where ${theirs} limit ${max}))`
    const one = await deleteSome(owner, name, note, async (queries) =>
      Number((await sql`delete from ${sql.table(name)} as one where ${some}`.execute(queries)).numAffectedRows))
    all = together(all, one)
  }
  return all
}

const nothing: DeletedRows = { deleted: false, blocked: [], locked: false }

function together (one: DeletedRows, other: DeletedRows): DeletedRows {
  return {
    deleted: one.deleted || other.deleted,
    blocked: [...one.blocked, ...other.blocked],
    locked: one.locked || other.locked
  }
}

async function deleteSome (
  owner: Queries,
  table: string,
  note: Deleting['note'],
  work: (queries: OwnerQueries) => Promise<number>
): Promise<DeletedRows> {
  try {
    const rows = await owner.transaction().execute(async (queries) => {
      // What is append-only may go.
      await sql`set local app.company_leaves = 'on'`.execute(queries)
      const count = await work(queries)
      if (count > 0) await note(queries, table, count)
      return count
    })
    return { ...nothing, deleted: rows > 0 }
  } catch (error) {
    const locked = isState(error, '55P03')
    if (!locked && !isReferredTo(error) && !isState(error, '57014')) throw error
    return { ...nothing, blocked: [table], locked }
  }
}

/** Work on a connection of its own without limits of time. Aborting cancels the statement that it is at. */
function withoutLimits<Result> (
  { session, vital }: Pick<Database, 'session' | 'vital'>,
  signal: AbortSignal,
  work: (owner: Queries) => Promise<Result>
): Promise<Result> {
  return session(async (client) => {
    const { rows: [own] } = await client.query<{ pid: number }>('select pg_backend_pid() as pid')
    const cancel = (): void => {
      void sql`select pg_cancel_backend(${own?.pid})`.execute(vital).catch(() => undefined)
    }
    const pooled = Object.assign(client, { release: () => undefined })
    const pool = { options: {}, connect: () => Promise.resolve(pooled), end: () => Promise.resolve() }
    signal.throwIfAborted()
    signal.addEventListener('abort', cancel)
    try {
      return await work(new Kysely({ dialect: new PostgresDialect({ pool }) }))
    } finally {
      signal.removeEventListener('abort', cancel)
    }
  })
}

/**
 * Keeps a company from beginning anything: no dispatch of it is recorded from the commit on, and what is recorded at this moment is waited
 * for. Answers what it has then.
 */
export async function leave (queries: OwnerQueries, companyId: number, at: Date): Promise<Held | undefined> {
  await sql`select pg_advisory_xact_lock(hashtextextended('leaving', ${companyId}))`.execute(queries)
  await queries.updateTable('companies').set({ leaving_at: at }).where('company_id', '=', companyId).execute()
  return countHeld({ owner: queries }, companyId)
}

/** Milliseconds: what a process had still to write of a company is no older. */
const lately = 3_600_000

/**
 * Deletes the company itself, once nothing else of it is there; else the database refuses. Logs refer to nothing, and are written
 * later than what they tell of: whoever writes one locks the company, and what was written meanwhile goes with it.
 */
export async function deleteCompany (queries: OwnerQueries, companyId: number, now: Date): Promise<void> {
  await sql`select from companies where company_id = ${companyId} for update`.execute(queries)
  await sql`set local app.company_leaves = 'on'`.execute(queries)
  for (const log of ['request_log', 'exchange_log'] as const) {
    await queries.deleteFrom(log).where('company_id', '=', companyId).where('entry_id', '>=', firstIdAt(now.getTime() - lately)).execute()
  }
  await queries.deleteFrom('log_counts').where('company_id', '=', companyId).execute()
  await queries.deleteFrom('data_keys').where('company_id', '=', companyId).execute()
  await queries.deleteFrom('companies').where('company_id', '=', companyId).execute()
}

/** Nobody lets a company in again that is being deleted, also by a release that knows of no companies that leave. */
export async function keepDisabled ({ owner, now }: Pick<Database, 'owner' | 'now'>, companyId: number): Promise<void> {
  await sql`update companies set disabled_at = coalesce(disabled_at, ${now}), leaving_at = coalesce(leaving_at, ${now})
    where company_id = ${companyId} and (disabled_at is null or leaving_at is null)`.execute(owner)
}

/**
 * The tables that have rows of companies, those that refer to others before these. Of a partitioned one these are its partitions: the place
 * of a row is unique only within its own.
 */
async function tablesOf (owner: Queries, companyId: number): Promise<Table[]> {
  const { rows: found } = await sql<{ name: string, own: boolean, leading: string[], users: string[], refers: string[], self: string[][] }>`
    select relname as name,
      exists (select from pg_attribute where attrelid = pg_class.oid and attname = 'company_id' and not attisdropped) as own,
      array(select attname::text from pg_index join pg_attribute on attrelid = indrelid and attnum = indkey[0]
        where indrelid = pg_class.oid and indpred is null and indisvalid) as leading,
      array(select attname::text from pg_constraint join pg_attribute on attrelid = conrelid and attnum = conkey[1]
        where conrelid = pg_class.oid and contype = 'f' and confrelid = 'users'::regclass) as users,
      array(select confrelid::regclass::text from pg_constraint where conrelid = pg_class.oid and contype = 'f') as refers,
      array(select array[own.attname, other.attname]::text[] from pg_constraint
        join pg_attribute as own on own.attrelid = conrelid and own.attnum = conkey[1]
        join pg_attribute as other on other.attrelid = conrelid and other.attnum = confkey[1]
        where conrelid = pg_class.oid and confrelid = pg_class.oid and contype = 'f' and cardinality(conkey) = 1) as self
    from pg_class where relnamespace = 'public'::regnamespace and relkind = 'r' order by relname`.execute(owner)
  const tables = found.filter(({ name, own, users }) => !last.has(name) && (own || users.length > 0))
  return inOrder(tables).map(({ name, own, leading, users, self }) => {
    const indexed = (own ? ['company_id'] : users).every((column) => leading.includes(column))
    const ofUsers = users.map((column) => sql`${sql.ref(`one.${column}`)} in (select user_id from users where company_id = ${companyId})`)
    const unreferred = self.map(([column = '', key = '']) =>
      sql` and not exists (select from ${sql.table(name)} as other where ${sql.ref(`other.${column}`)} = ${sql.ref(`one.${key}`)})`
    )
    const theirs = own ? sql`one.company_id = ${companyId}` : sql`(${sql.join(ofUsers, sql` or `)})`
    return { name, indexed, theirs: sql`${theirs}${sql.join(unreferred, sql``)}` }
  })
}

/** Each table before those that it refers to. In a circle the order is that of the names: what is blocked comes in a later turn. */
function inOrder<One extends { name: string, refers: readonly string[] }> (tables: readonly One[]): One[] {
  const [ordered, left] = [[] as One[], new Set(tables)]
  while (left.size > 0) {
    const free = [...left].filter(({ name }) => ![...left].some((other) => other.name !== name && other.refers.includes(name)))
    for (const table of free.length > 0 ? free : [...left]) {
      ordered.push(table)
      left.delete(table)
    }
  }
  return ordered
}

/** Whether the database has refused a deletion because something refers to what was to be deleted. */
export function isReferredTo (error: unknown): boolean {
  return isState(error, '23503')
}

function isState (error: unknown, code: string): boolean {
  return error instanceof Error && 'code' in error && error.code === code
}
