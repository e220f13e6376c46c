import { addFactor, type AuditStamp, type FactorChange, type FactorStore, noteAudit, type UserRef } from '@dispatch/accounts'
import type { Envelope } from '@dispatch/common'
import type { Database } from '@dispatch/database'
import type { ColumnType, Generated } from 'kysely'

type Tables = {
  authenticators: {
    user_id: number
    company_id: number
    sealed: ColumnType<Envelope, string, string>
    confirmed_at: Date | null
    last_step: Generated<string>
  }
}

/** Queries that know the table of apps. The migration 037 of the core has made it. */
function tablesIn (queries: Database['owner']) {
  return queries.$extendTables<Tables>()
}

/** The app of a user that makes codes; `confirmed` when one of its codes has proved it. */
export type AuthenticatorRow = { sealed: Envelope, confirmed: boolean }

export async function readAuthenticator (database: Database, { companyId, userId }: UserRef): Promise<AuthenticatorRow | undefined> {
  const row = await database.company(companyId,
    (queries) =>
      tablesIn(queries).selectFrom('authenticators').select(['sealed', 'confirmed_at']).where('company_id', '=', companyId)
        .where('user_id', '=', userId).executeTakeFirst())
  return row && { sealed: row.sealed, confirmed: row.confirmed_at !== null }
}

/** Stores an app that is not confirmed yet, in place of an earlier one of its kind. False where the user has a confirmed one. */
export async function storeAuthenticator (database: Database, { companyId, userId }: UserRef, sealed: Envelope): Promise<boolean> {
  const row = { user_id: userId, company_id: companyId, sealed: JSON.stringify(sealed) }
  const { numInsertedOrUpdatedRows } = await database.company(companyId,
    (queries) =>
      tablesIn(queries).insertInto('authenticators').values(row).onConflict((conflict) =>
        conflict.column('user_id').doUpdateSet({ sealed: row.sealed }).where('authenticators.confirmed_at', 'is', null)
      ).executeTakeFirstOrThrow())
  return numInsertedOrUpdatedRows === 1n
}

/**
 * Confirms the app with this secret by a code of this step, as {@link addFactor} adds a factor; the recovery codes replace those that there
 * are. Undefined where it has been confirmed or replaced since it was read.
 */
export async function confirmAuthenticator (
  database: Database,
  change: FactorChange & { passwordVersion: number | undefined },
  { sealed, step, digests }: { sealed: Envelope, step: number, digests: readonly Buffer[] },
  signature: AuditStamp
): Promise<'confirmed' | 'stale' | undefined> {
  const { companyId, userId } = change
  const added = await addFactor(database, change, {
    digests,
    count: 'always',
    async add (queries) {
      const { numUpdatedRows } = await tablesIn(queries).updateTable('authenticators')
        .set({ confirmed_at: signature.at, last_step: String(step) }).where('company_id', '=', companyId).where('user_id', '=', userId)
        .where('confirmed_at', 'is', null).where('sealed', '=', sealed).executeTakeFirstOrThrow()
      if (numUpdatedRows === 0n) return undefined
      await noteAudit(queries, { companyId, action: 'second_factor.set', object: { kind: 'user', id: String(userId) }, ...signature })
      return 'confirmed' as const
    }
  }, signature.at)
  return typeof added === 'object' ? added.row : added
}

/** Accepts a code of the confirmed app once: in one statement, so that no two processes accept it. */
export async function useStep (database: Database, { companyId, userId }: UserRef, step: number): Promise<boolean> {
  const { numUpdatedRows } = await database.company(companyId,
    (queries) =>
      tablesIn(queries).updateTable('authenticators').set({ last_step: String(step) }).where('company_id', '=', companyId)
        .where('user_id', '=', userId).where('confirmed_at', 'is not', null).where('last_step', '<', String(step))
        .executeTakeFirstOrThrow())
  return numUpdatedRows === 1n
}

/** What users have of apps, as a kind of verification. */
export const appFactors: Omit<FactorStore, 'kind'> = {
  async count (queries, { companyId, userId }) {
    const app = await tablesIn(queries).selectFrom('authenticators').select('user_id').where('company_id', '=', companyId)
      .where('user_id', '=', userId).where('confirmed_at', 'is not', null).executeTakeFirst()
    return app === undefined ? 0 : 1
  },
  async remove (queries, { companyId, userId }) {
    await tablesIn(queries).deleteFrom('authenticators').where('company_id', '=', companyId).where('user_id', '=', userId).execute()
  }
}

/** Makes an app of the first user of a company, for tests of the walls between companies. */
export async function fillAuthenticators (queries: Database['owner'], companyId: number): Promise<void> {
  const { user_id: userId } = await queries.selectFrom('users').select('user_id').where('company_id', '=', companyId)
    .executeTakeFirstOrThrow()
  await tablesIn(queries).insertInto('authenticators').values({ user_id: userId, company_id: companyId, sealed: '{}' }).execute()
}
