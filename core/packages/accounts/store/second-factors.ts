import type { CompanyQueries, Database } from '@dispatch/database'
import { type AuditStamp, noteAudit } from '../audit/audit.ts'
import { type UserRef, voidSessions } from './users.ts'

/** What users have of one kind of verification, which takes the place of a code. All is done within a transaction of their company. */
export type FactorStore = {
  /** The name of the kind, such as `passkey`. */
  kind: string
  /** How many a user has set up. */
  count: (queries: CompanyQueries, user: UserRef) => Promise<number>
  /** Removes all that a user has. */
  remove: (queries: CompanyQueries, user: UserRef) => Promise<void>
}

/** What a user has: the time of the first factor, how many of each kind, and how many recovery codes are left. */
export type FactorState = { since: Date | null, kinds: Readonly<Record<string, number>>, recoveryCodes: number }

/** A change of a user's second factor: all sessions end, but for the one through which it is made. */
export type FactorChange = UserRef & { keptSession?: string | undefined }

export async function readFactors (database: Database, stores: readonly FactorStore[], user: UserRef): Promise<FactorState> {
  const { companyId, userId } = user
  return database.snapshot(companyId, async (queries) => {
    const { second_factor_at: since } = await queries.selectFrom('users').select('second_factor_at').where('company_id', '=', companyId)
      .where('user_id', '=', userId).executeTakeFirstOrThrow()
    const kinds: Record<string, number> = {}
    for (const { kind, count } of stores) kinds[kind] = await count(queries, user)
    const { left } = await queries.selectFrom('recovery_codes').select(({ fn }) => fn.countAll<string>().as('left'))
      .where('company_id', '=', companyId).where('user_id', '=', userId).executeTakeFirstOrThrow()
    return { since, kinds, recoveryCodes: Number(left) }
  })
}

/**
 * Adds a factor of a kind, in one transaction with what follows from it: the recovery codes count where it is the user's first one (with
 * `count` in any case), and sessions and tokens end. Undefined where `add` has added nothing; `stale` when the user's ways in have ended
 * since they were let in.
 */
export async function addFactor<Row> (
  database: Database,
  { passwordVersion, ...change }: FactorChange & { passwordVersion: number | undefined },
  { digests, count, add }: { digests: readonly Buffer[], count?: 'always', add: (queries: CompanyQueries) => Promise<Row | undefined> },
  at: Date
): Promise<{ row: Row, first: boolean } | 'stale' | undefined> {
  const { companyId, userId } = change
  return database.company(companyId, async (queries) => {
    const user = await queries.selectFrom('users').select('second_factor_at').where('company_id', '=', companyId)
      .where('user_id', '=', userId).where('password_version', '=', passwordVersion ?? -1).forNoKeyUpdate().executeTakeFirst()
    if (user === undefined) return 'stale'
    const { second_factor_at: since } = user
    const row = await add(queries)
    if (row === undefined) return undefined
    if (since === null || count === 'always') await writeCodes(queries, change, digests)
    await endSessions(queries, change, since ?? at)
    return { row, first: since === null }
  })
}

/**
 * Removes a factor of a kind, in one transaction with what follows from it: with the user's last one the recovery codes go too, and
 * sessions and tokens end. False where `remove` has found nothing.
 */
export async function removeFactor (
  database: Database,
  stores: readonly FactorStore[],
  change: FactorChange,
  remove: (queries: CompanyQueries) => Promise<boolean>
): Promise<boolean> {
  const { companyId, userId } = change
  return database.company(companyId, async (queries) => {
    const { second_factor_at: since } = await queries.selectFrom('users').select('second_factor_at').where('company_id', '=', companyId)
      .where('user_id', '=', userId).forNoKeyUpdate().executeTakeFirstOrThrow()
    if (!await remove(queries)) return false
    const hasOther = await hasFactor(queries, stores, change)
    if (!hasOther) await queries.deleteFrom('recovery_codes').where('company_id', '=', companyId).where('user_id', '=', userId).execute()
    await endSessions(queries, change, hasOther ? since : null)
    return true
  })
}

async function hasFactor (queries: CompanyQueries, stores: readonly FactorStore[], user: UserRef): Promise<boolean> {
  for (const { count } of stores) if (await count(queries, user) > 0) return true
  return false
}

/** Uses up a recovery code. False where the user has no such code. */
export async function useRecoveryCode (database: Database, { companyId, userId }: UserRef, digest: Buffer): Promise<boolean> {
  const { numDeletedRows } = await database.company(companyId,
    (queries) =>
      queries.deleteFrom('recovery_codes').where('company_id', '=', companyId).where('user_id', '=', userId)
        .where('digest', '=', digest).executeTakeFirstOrThrow())
  return numDeletedRows === 1n
}

/** Replaces the recovery codes of a user who has a second factor. False for any other. */
export async function replaceRecoveryCodes (
  database: Database,
  ref: UserRef,
  digests: readonly Buffer[],
  signature: AuditStamp
): Promise<boolean> {
  const { companyId, userId } = ref
  return database.company(companyId, async (queries) => {
    const user = await queries.selectFrom('users').select('user_id').where('company_id', '=', companyId).where('user_id', '=', userId)
      .where('second_factor_at', 'is not', null).forNoKeyUpdate().executeTakeFirst()
    if (user === undefined) return false
    await writeCodes(queries, ref, digests)
    await note(queries, ref, 'recovery_codes.replaced', signature)
    return true
  })
}

/** Removes all that is the second factor of a user, of every kind. False where there is none. */
export async function removeFactors (
  database: Database,
  stores: readonly FactorStore[],
  change: FactorChange,
  action: 'second_factor.removed' | 'second_factor.reset',
  signature: AuditStamp
): Promise<boolean> {
  const { companyId, userId } = change
  return database.company(companyId, async (queries) => {
    if (!await endSessions(queries, change, null)) return false
    await queries.deleteFrom('recovery_codes').where('company_id', '=', companyId).where('user_id', '=', userId).execute()
    for (const { remove } of stores) await remove(queries, change)
    await note(queries, change, action, signature)
    return true
  })
}

/** Replaces the recovery codes of a user. */
async function writeCodes (queries: CompanyQueries, { companyId, userId }: UserRef, digests: readonly Buffer[]): Promise<void> {
  await queries.deleteFrom('recovery_codes').where('company_id', '=', companyId).where('user_id', '=', userId).execute()
  await queries.insertInto('recovery_codes').values(digests.map((digest) => ({ user_id: userId, company_id: companyId, digest }))).execute()
}

/**
 * Records since when the user has a second factor (null: none any more) and voids sessions and tokens, but the kept session. False where
 * there was none to remove.
 */
async function endSessions (
  queries: CompanyQueries,
  { companyId, userId, keptSession }: FactorChange,
  since: Date | null
): Promise<boolean> {
  const changed = await queries.updateTable('users').set((user) => ({
    second_factor_at: since === null ? null : user.fn.coalesce('second_factor_at', user.val(since))
  })).where('company_id', '=', companyId).where('user_id', '=', userId)
    .$if(since === null, (query) => query.where('second_factor_at', 'is not', null)).returning('user_id').executeTakeFirst()
  if (changed === undefined) return false
  await voidSessions(queries, { companyId, userId, keptSession })
  return true
}

function note (queries: CompanyQueries, { companyId, userId }: UserRef, action: string, signature: AuditStamp): Promise<void> {
  return noteAudit(queries, { companyId, action, object: { kind: 'user', id: String(userId) }, ...signature })
}
