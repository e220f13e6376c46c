import { type AuditAuthor, noteAudit, platform } from '@dispatch/accounts'
import type { Database, OwnerQueries } from '@dispatch/database'
import { sql } from 'kysely'
import { deleteCompany, type Held, leave } from './leaving.ts'
import { columns, type DeletionRow, type Stage, tablesIn } from './tables.ts'

/**
 * Records a deletion, from which on nothing is recorded for the company; undefined where it is just being deleted. `check` throws where
 * something of what it has is in the way.
 */
export async function addDeletion (
  { owner, now }: Database,
  { companyId, name, author, at }: { companyId: number, name: string, author: AuditAuthor, at: Date },
  check: (held: Held) => void
): Promise<DeletionRow | undefined> {
  return owner.transaction().execute(async (queries) => {
    const held = await leave(queries, companyId, at)
    if (held === undefined) return undefined
    check(held)
    const row = await tablesIn(queries).insertInto('company_deletions').values({
      former_company: companyId,
      name,
      asked_by: author.userId,
      author: JSON.stringify(author),
      stage: 'keys',
      next_at: now,
      created_at: at
    }).onConflict((conflict) => conflict.doNothing()).returning(columns).executeTakeFirst()
    if (row !== undefined) await note(queries, row, { action: 'company.deletion_started', author, at })
    return row
  })
}

type Noted = { action: string, author: AuditAuthor, at: Date, facts?: { sha256: string } }

/** In the log of the platform: that of the company goes with it. */
function note (queries: OwnerQueries, { former_company: id, name }: DeletionRow, { facts, ...noted }: Noted): Promise<void> {
  return noteAudit(queries, {
    companyId: platform.companyId,
    object: { kind: 'company', id: String(id) },
    facts: { name, ...facts },
    ...noted
  })
}

export async function findDeletion ({ owner }: Pick<Database, 'owner'>, companyId: number): Promise<DeletionRow | undefined> {
  return tablesIn(owner).selectFrom('company_deletions').select(columns).where('former_company', '=', companyId).executeTakeFirst()
}

/** The newest first; `after`: the id of the company behind which the page begins. */
export async function listDeletions (
  { owner }: Pick<Database, 'owner'>,
  { limit, after }: { limit: number, after?: number | undefined }
): Promise<DeletionRow[]> {
  return tablesIn(owner).selectFrom('company_deletions').select(columns)
    .$if(after !== undefined, (query) =>
      query.where(sql<boolean>`(created_at, former_company) <
        (select created_at, former_company from company_deletions where former_company = ${after ?? 0})`))
    .orderBy('created_at', 'desc').orderBy('former_company', 'desc').limit(limit).execute()
}

/**
 * Claims the deletion that has waited for longest. `seconds`: after which another process may, because this one must have ended; the last
 * stage takes longer than most.
 */
export async function claimDeletion (
  { owner, now }: Database,
  claim: string,
  seconds: { max: number, last: number }
): Promise<DeletionRow | undefined> {
  const lasts = sql`case stage when 'last' then ${seconds.last}::integer else ${seconds.max}::integer end`
  return tablesIn(owner).updateTable('company_deletions').set({ claim, next_at: sql<Date>`${now} + make_interval(secs => ${lasts})` })
    .where('former_company', '=',
      (from) =>
        from.selectFrom('company_deletions').select('former_company').where('next_at', '<=', now).orderBy('next_at').limit(1).forUpdate()
          .skipLocked())
    .returning(columns).executeTakeFirst()
}

/** Records how far a deletion has come, where the claim still holds. `seconds`: until the next step. */
export async function advanceDeletion (
  { owner, now }: Database,
  { former_company: id, claim }: DeletionRow,
  { stage, seconds }: { stage: Stage, seconds: number }
): Promise<void> {
  const { numUpdatedRows } = await tablesIn(owner).updateTable('company_deletions')
    .set({ stage, next_at: sql<Date>`${now} + make_interval(secs => ${seconds})` })
    .where('former_company', '=', id).where('claim', '=', claim).executeTakeFirstOrThrow()
  if (numUpdatedRows === 0n) throw new Error('Another process has the deletion.')
}

/** Adds deleted rows of a table to the counts, in the transaction that deletes them, and keeps the claim for so many seconds more. */
export async function noteDeleted (
  { now }: Pick<Database, 'now'>,
  queries: OwnerQueries,
  { former_company: id, claim }: DeletionRow,
  { table, rows, seconds }: { table: string, rows: number, seconds: number }
): Promise<void> {
  const { numUpdatedRows } = await tablesIn(queries).updateTable('company_deletions').set({
    counts: sql<string>`counts || jsonb_build_object(${table}::text, coalesce((counts->>${table}::text)::bigint, 0) + ${rows}::bigint)`,
    next_at: sql<Date>`${now} + make_interval(secs => ${seconds})`
  }).where('former_company', '=', id).where('claim', '=', claim).executeTakeFirstOrThrow()
  if (numUpdatedRows === 0n) throw new Error('Another process has the deletion.')
}

/** Ends a deletion together with the company, whose log goes with it. The audit log of the platform has the digest of the receipt. */
export async function finishDeletion (
  { owner }: Database,
  row: DeletionRow,
  { author, receipt, sha256, at }: { author: AuditAuthor, receipt: string, sha256: string, at: Date }
): Promise<void> {
  await owner.transaction().execute(async (queries) => {
    await deleteCompany(queries, row.former_company, at)
    const { numUpdatedRows } = await tablesIn(queries).updateTable('company_deletions')
      .set({ stage: 'finished', author: null, next_at: null, receipt, sha256, finished_at: at })
      .where('former_company', '=', row.former_company).where('claim', '=', row.claim).executeTakeFirstOrThrow()
    if (numUpdatedRows === 0n) throw new Error('Another process has the deletion.')
    await note(queries, row, { action: 'company.deleted', author, at, facts: { sha256 } })
  })
}
