import type { CompanyQueries, Database } from '@dispatch/database'
import { type AuditStamp, noteAudit } from '../audit/audit.ts'
import type { FactorStore } from './second-factors.ts'
import { lasting, sessionLimits } from './sessions.ts'
import { setPassword, type UserRef, voidSessions } from './users.ts'

/** Ends what a feature lets a user in by, within a transaction of their company. */
export type AccessEnd = (queries: CompanyQueries, user: UserRef) => Promise<void>

/** How many ways in a user has of each kind. */
export async function countWays (
  database: Database,
  stores: readonly FactorStore[],
  user: UserRef
): Promise<{ sessions: number, keys: number, factors: number }> {
  const { companyId, userId } = user
  return database.snapshot(companyId, async (queries) => {
    const { sessions } = await queries.selectFrom('sessions').select(({ fn }) => fn.countAll<string>().as('sessions'))
      .where('company_id', '=', companyId).where('user_id', '=', userId).where(lasting(database.now, sessionLimits))
      .executeTakeFirstOrThrow()
    const { keys } = await queries.selectFrom('api_keys').select(({ fn }) => fn.countAll<string>().as('keys'))
      .where('company_id', '=', companyId).where('user_id', '=', userId).where('revoked_at', 'is', null).executeTakeFirstOrThrow()
    let factors = 0
    for (const { count } of stores) factors += await count(queries, user)
    return { sessions: Number(sessions), keys: Number(keys), factors }
  })
}

/**
 * Ends every way in of a user: sessions, tokens, the password, in whose place another hash comes, recovery codes, API keys, and what
 * features let them in by. Answers how many keys were revoked.
 */
export async function resetAccess (
  database: Database,
  ends: readonly AccessEnd[],
  { passwordHash, ...ref }: UserRef & { passwordHash: string },
  signature: AuditStamp
): Promise<number> {
  const { companyId, userId } = ref
  const { at } = signature
  return database.company(companyId, async (queries) => {
    await setPassword(queries, ref, passwordHash, at)
    for (const end of ends) await end(queries, ref)
    await queries.deleteFrom('recovery_codes').where('company_id', '=', companyId).where('user_id', '=', userId).execute()
    await queries.updateTable('users').set({ second_factor_at: null }).where('company_id', '=', companyId).where('user_id', '=', userId)
      .execute()
    const { numUpdatedRows: keys } = await queries.updateTable('api_keys').set({ revoked_at: at }).where('company_id', '=', companyId)
      .where('user_id', '=', userId).where('revoked_at', 'is', null).executeTakeFirstOrThrow()
    await voidSessions(queries, ref)
    const facts = { keys: Number(keys) }
    await noteAudit(queries, { companyId, action: 'access.reset', object: { kind: 'user', id: String(userId) }, facts, ...signature })
    return Number(keys)
  })
}
