import { type AuditAuthor, noteAudit } from '@dispatch/accounts'
import type { Counts, Keyring } from '@dispatch/common'
import type { Database, OwnerQueries } from '@dispatch/database'
import { sql } from 'kysely'
import type { IdentifierName } from '../contract/erasures.ts'
import { columns, type ErasureRow, tablesIn } from './tables.ts'

/** An erasure to record. */
export type NewErasure = {
  erasureId: string
  author: AuditAuthor
  subject: ReturnType<Keyring['seal']>
  by: readonly IdentifierName[]
  person: string
  countFirst: boolean
  at: Date
}

/** Records an erasure, unless so many of the company are under way. */
export async function addErasure (
  database: Database,
  { erasureId, author, subject, by, person, countFirst, at }: NewErasure,
  max: number
): Promise<ErasureRow | undefined> {
  const { companyId, userId } = author
  return database.company(companyId, async (queries) => {
    await sql`select pg_advisory_xact_lock(hashtextextended('erasures', ${companyId}))`.execute(queries)
    const tables = tablesIn(queries)
    const { open } = await tables.selectFrom('erasures').select(sql<number>`count(*)::integer`.as('open'))
      .where('company_id', '=', companyId).where('status', 'in', ['counting', 'running']).executeTakeFirstOrThrow()
    if (open >= max) return undefined
    await note(queries, { author, erasureId, action: countFirst ? 'erasure.counted' : 'erasure.started', person, at })
    return tables.insertInto('erasures').values({
      erasure_id: erasureId,
      company_id: companyId,
      user_id: userId,
      status: countFirst ? 'counting' : 'running',
      subject: JSON.stringify(subject),
      identified_by: [...by],
      person,
      author: JSON.stringify(author),
      next_at: database.now,
      created_at: at,
      begun_at: countFirst ? null : at
    }).returning(columns).executeTakeFirstOrThrow()
  })
}

/** Begins an erasure that was counted; undefined where it is in no such state. */
export async function beginErasure (
  database: Database,
  { erasureId, author, at }: Pick<NewErasure, 'erasureId' | 'author' | 'at'>
): Promise<ErasureRow | undefined> {
  const { companyId } = author
  return database.company(companyId, async (queries) => {
    const row = await tablesIn(queries).updateTable('erasures')
      .set({ status: 'running', counts: '{}', author: JSON.stringify(author), next_at: database.now, begun_at: at })
      .where('company_id', '=', companyId).where('erasure_id', '=', erasureId).where('status', '=', 'counted')
      .returning(columns).executeTakeFirst()
    if (row !== undefined) await note(queries, { author, erasureId, action: 'erasure.started', person: row.person, at })
    return row
  })
}

type Noted = Pick<NewErasure, 'author' | 'erasureId' | 'person' | 'at'> & { action: string, facts?: { sha256: string } }

/** Whose data it is stands in the audit log as a hash. */
async function note (queries: OwnerQueries, { author, erasureId: id, action, person, facts, at }: Noted): Promise<void> {
  await noteAudit(queries, {
    companyId: author.companyId,
    author,
    action,
    object: { kind: 'erasure', id },
    facts: { person, ...facts },
    at
  })
}

/** Notes that somebody has got all that is held about a person. */
export async function noteExport (database: Database, { author, person, at }: Pick<NewErasure, 'author' | 'person' | 'at'>): Promise<void> {
  const { companyId } = author
  await database.company(companyId, (queries) =>
    noteAudit(queries, {
      companyId,
      author,
      action: 'person.exported',
      object: { kind: 'company', id: String(companyId) },
      facts: { person },
      at
    }))
}

/** The erasures of a company, the newest first. */
export async function listErasures (
  database: Database,
  companyId: number,
  { limit, after }: { limit: number, after?: string | undefined }
): Promise<ErasureRow[]> {
  return database.reading(companyId,
    (queries) =>
      tablesIn(queries).selectFrom('erasures').select(columns).where('company_id', '=', companyId)
        .$if(after !== undefined, (query) => query.where('erasure_id', '<', after ?? ''))
        .orderBy('erasure_id', 'desc').limit(limit).execute())
}

export async function findErasure (database: Database, companyId: number, erasureId: string): Promise<ErasureRow | undefined> {
  return database.company(companyId,
    (queries) =>
      tablesIn(queries).selectFrom('erasures').select(columns).where('company_id', '=', companyId).where('erasure_id', '=', erasureId)
        .executeTakeFirst())
}

/** Claims the erasure that has waited for longest. `seconds`: after which another process may, because this one must have ended. */
export async function claimErasure ({ owner, now }: Database, claim: string, seconds: number): Promise<ErasureRow | undefined> {
  return tablesIn(owner).updateTable('erasures').set({ claim, next_at: sql<Date>`${now} + make_interval(secs => ${seconds})` })
    .where('erasure_id', '=',
      (from) =>
        from.selectFrom('erasures').select('erasure_id').where('next_at', '<=', now).orderBy('next_at').limit(1).forUpdate().skipLocked())
    .returning(columns).executeTakeFirst()
}

/** How far an erasure has come. `seconds`: until the next look. */
export type Progress = {
  holder: string | null
  place: string | null
  counts: Counts
  passing: number
  waiting?: number
  passes?: number
  seconds?: number
  counted?: true
}

/** Records how far an erasure has come, where the claim still holds. Throws where another process has it. */
export async function advanceErasure (
  queries: Database['owner'],
  { erasure_id: erasureId, claim }: ErasureRow,
  { holder, place, counts, passing, waiting, passes, seconds, counted }: Progress,
  now: Database['now']
): Promise<void> {
  const { numUpdatedRows } = await tablesIn(queries).updateTable('erasures').set({
    holder,
    place,
    counts: JSON.stringify(counts),
    passing,
    ...waiting === undefined ? {} : { waiting },
    ...passes === undefined ? {} : { passes },
    ...seconds === undefined ? {} : { next_at: sql<Date>`${now} + make_interval(secs => ${seconds})` },
    ...counted === undefined ? {} : { status: 'counted' as const, next_at: null }
  }).where('erasure_id', '=', erasureId).where('claim', '=', claim).executeTakeFirstOrThrow()
  if (numUpdatedRows === 0n) throw new Error('Another process has the erasure.')
}

/** Ends an erasure: who it was is not known any more, and the audit log has the digest of its receipt. */
export async function finishErasure (
  queries: OwnerQueries,
  { erasure_id: erasureId, claim, person }: ErasureRow,
  { author, receipt, sha256, at }: { author: AuditAuthor, receipt: string, sha256: string, at: Date }
): Promise<void> {
  const { numUpdatedRows } = await tablesIn(queries).updateTable('erasures').set({
    status: 'finished',
    subject: null,
    author: null,
    holder: null,
    place: null,
    waiting: 0,
    next_at: null,
    receipt,
    sha256,
    finished_at: at
  }).where('erasure_id', '=', erasureId).where('claim', '=', claim).executeTakeFirstOrThrow()
  if (numUpdatedRows === 0n) throw new Error('Another process has the erasure.')
  await note(queries, { author, erasureId, action: 'erasure.finished', person, facts: { sha256 }, at })
}

/** Forgets what was counted and not begun. */
export async function forgetCounted ({ owner }: Database, before: Date): Promise<void> {
  await tablesIn(owner).deleteFrom('erasures').where('status', '=', 'counted').where('created_at', '<', before).execute()
}

/** A row of a company, for the tests of the walls between companies. */
export async function fillErasures (queries: Database['owner'], companyId: number): Promise<void> {
  await sql`insert into erasures (erasure_id, company_id, user_id, status, identified_by, person, receipt, sha256, created_at)
    select gen_random_uuid(), ${companyId}, min(user_id), 'finished', '{address}', '', '{}', '', now()
    from users where company_id = ${companyId}`.execute(queries)
}
