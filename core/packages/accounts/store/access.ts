import type { CompanyQueries, Database } from '@dispatch/database'
import { type AuditStamp, noteAudit } from '../audit/audit.ts'
import { setPassword, type UserRef, voidSessions } from './users.ts'

/** Ends what a feature lets a user in by, within a transaction of their company. */
export type AccessEnd = (queries: CompanyQueries, user: UserRef) => Promise<void>

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
