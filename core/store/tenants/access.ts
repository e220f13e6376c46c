import type { Database } from '../db/database.ts'
import { type AuditStamp, noteAudit } from './audit.ts'
import type { FactorStore } from './second-factors.ts'
import { setPassword, type UserRef, voidSessions } from './users.ts'

/**
 * Ends every way in of a user: sessions, tokens, the password, in whose place another hash comes, second factors of every kind, recovery
 * codes, API keys, the accounts at an issuer that are theirs, and the one-time links that are for them or that they have made. Answers how
 * many keys were revoked.
 */
export async function resetAccess (
  database: Database,
  stores: readonly FactorStore[],
  { passwordHash, ...ref }: UserRef & { passwordHash: string },
  signature: AuditStamp
): Promise<number> {
  const { companyId, userId } = ref
  const { at } = signature
  return database.company(companyId, async (queries) => {
    await setPassword(queries, ref, passwordHash, at)
    for (const { remove } of stores) await remove(queries, ref)
    for (const table of ['authenticators', 'recovery_codes', 'user_identities'] as const) {
      await queries.deleteFrom(table).where('company_id', '=', companyId).where('user_id', '=', userId).execute()
    }
    await queries.deleteFrom('one_time_links').where('company_id', '=', companyId)
      .where((link) => link.or([link('user_id', '=', userId), link('made_by', '=', userId)])).execute()
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
