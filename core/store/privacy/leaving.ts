import type { Database, OwnerQueries } from '@dispatch/database'
import { type RawBuilder, sql } from 'kysely'
import { deleteDispatches } from '../dispatch/forgetting.ts'

type Owner = Pick<Database, 'owner'>

/** What a company has, and what is still under way: dispatches, and credits that they hold. Undefined where there is no such company. */
export async function countHeld ({ owner }: Owner, companyId: number): Promise<Held | undefined> {
  const { rows: [found] } = await sql<Held>`
    select name, disabled_at is not null as disabled, balance::float8 as credits, held::float8 as held,
      (select count(*)::integer from dispatches where dispatches.company_id = ${companyId}) as dispatches,
      (select count(*)::integer from dispatches where dispatches.company_id = ${companyId} and status in ('queued', 'running')) as running,
      (select count(*)::integer from documents where documents.company_id = ${companyId} and removed_at is null) as documents,
      (select count(*)::integer from users where users.company_id = ${companyId}) as users
    from companies join credits using (company_id) where company_id = ${companyId}`.execute(owner)
  return found
}

export type Held = {
  name: string
  disabled: boolean
  credits: number
  held: number
  dispatches: number
  running: number
  documents: number
  users: number
}

/** How many rows of each table were deleted. `blocked`: tables of which some are still referred to. */
export type DeletedRows = { counts: Readonly<Record<string, number>>, blocked: readonly string[] }

/**
 * What goes last, in one transaction with the company, and the numbers of changes, which tell other processes that something is gone and
 * hold nothing else.
 */
const last = new Set(['companies', 'data_keys', 'changes'])

/** Whose rows name their company, or a user of it. */
type Table = { name: string, theirs: RawBuilder<unknown> }

/**
 * Deletes some rows of a company from each table that has any, what refers to others first: at most `limit` of each. All tables are found
 * in the catalog of the database, so that no feature is left out. Nothing is deleted any more once all are gone.
 */
export async function deleteCompanyRows ({ owner }: Owner, companyId: number, limit: number): Promise<DeletedRows> {
  const counts: Record<string, number> = {}
  const blocked: string[] = []
  const note = (name: string, rows: number): void => {
    if (rows > 0) counts[name] = rows
  }
  note('dispatches', await leaving(owner, (queries) => deleteDispatches(queries, companyId, Math.ceil(limit / 10))))
  if (Object.keys(counts).length > 0) return { counts, blocked }
  for (const { name, theirs } of await tablesOf(owner, companyId)) {
    const rows = await leaving(owner, async (queries) => {
      const { numAffectedRows } = await sql`delete from ${sql.table(name)}
        where ctid = any (array(select ctid from ${sql.table(name)} as one where ${theirs} limit ${limit}))`.execute(queries)
      return Number(numAffectedRows)
    }).catch((error: unknown) => {
      if (!isReferredTo(error)) throw error
      blocked.push(name)
      return 0
    })
    note(name, rows)
  }
  return { counts, blocked }
}

/** Deletes the company itself, once nothing else of it is there; else the database refuses. */
export async function deleteCompany (queries: OwnerQueries, companyId: number): Promise<void> {
  await queries.deleteFrom('data_keys').where('company_id', '=', companyId).execute()
  await queries.deleteFrom('companies').where('company_id', '=', companyId).execute()
}

/** Nobody lets a company in again that is being deleted. */
export async function keepDisabled ({ owner, now }: Pick<Database, 'owner' | 'now'>, companyId: number): Promise<void> {
  await owner.updateTable('companies').set({ disabled_at: now }).where('company_id', '=', companyId).where('disabled_at', 'is', null)
    .execute()
}

/** Work in a transaction in which what is append-only may go. */
function leaving<Result> (owner: Database['owner'], work: (queries: OwnerQueries) => Promise<Result>): Promise<Result> {
  return owner.transaction().execute(async (queries) => {
    await sql`set local app.company_leaves = 'on'`.execute(queries)
    return work(queries)
  })
}

/** The tables that have rows of companies, those that refer to others before these. */
async function tablesOf (owner: Database['owner'], companyId: number): Promise<Table[]> {
  const { rows: found } = await sql<{ name: string, own: boolean, users: string[], refers: string[], self: string[][] }>`
    select relname as name,
      exists (select from pg_attribute where attrelid = pg_class.oid and attname = 'company_id' and not attisdropped) as own,
      array(select attname::text from pg_constraint join pg_attribute on attrelid = conrelid and attnum = conkey[1]
        where conrelid = pg_class.oid and contype = 'f' and confrelid = 'users'::regclass) as users,
      array(select confrelid::regclass::text from pg_constraint where conrelid = pg_class.oid and contype = 'f') as refers,
      array(select array[own.attname, other.attname]::text[] from pg_constraint
        join pg_attribute as own on own.attrelid = conrelid and own.attnum = conkey[1]
        join pg_attribute as other on other.attrelid = conrelid and other.attnum = confkey[1]
        where conrelid = pg_class.oid and confrelid = pg_class.oid and contype = 'f' and cardinality(conkey) = 1) as self
    from pg_class where relnamespace = 'public'::regnamespace and relkind in ('r', 'p') order by relname`.execute(owner)
  const tables = found.filter(({ name, own, users }) => !last.has(name) && (own || users.length > 0))
  return inOrder(tables).map(({ name, own, users, self }) => {
    const ofUsers = users.map((column) => sql`${sql.ref(`one.${column}`)} in (select user_id from users where company_id = ${companyId})`)
    const unreferred = self.map(([column = '', key = '']) =>
      sql` and not exists (select from ${sql.table(name)} as other where ${sql.ref(`other.${column}`)} = ${sql.ref(`one.${key}`)})`
    )
    const theirs = own ? sql`one.company_id = ${companyId}` : sql`(${sql.join(ofUsers, sql` or `)})`
    return { name, theirs: sql`${theirs}${sql.join(unreferred, sql``)}` }
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
  return error instanceof Error && 'code' in error && error.code === '23503'
}
